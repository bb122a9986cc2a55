// Restate: a server of its own with its default settings, which wait for the disk
// at each write, and a service in this process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import http2 from 'node:http2'
import { createServer } from 'node:net'
import { arch, platform } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

import * as restate from '@restatedev/restate-sdk'

import { fanSteps, model, napper, open, serve, shut, sum, text, tool } from './harness.js'

// The SDK is made for Node 22, which has this; Node 20 lacks no more than that.
Promise.withResolvers ??= () => {
  const made = {}
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }))
  return made
}

const service = restate.service({
  name: 'bench',
  handlers: {
    async loop(ctx, { turns }) {
      let at = { number: 0, text }
      for (let turn = 0; turn < turns; turn++) {
        at = await ctx.run('model', () => model(at))
        at = await ctx.run('tool', () => tool(at))
      }
      return at.number
    },
    // The next call starts when one of those under way has ended: which one, the
    // journal remembers.
    async fan(ctx, { id, width, atOnce, napMs }) {
      const nap = napper(napMs)
      await ctx.run('open', () => open(id))
      const answers = []
      const underWay = new Map()
      for (const step of fanSteps(width)) {
        if (underWay.size === atOnce) answers.push(await first(underWay))
        const key = step.number
        underWay.set(key, ctx.run('nap', () => nap(step)).map((answer) => ({ key, answer })))
      }
      while (underWay.size > 0) answers.push(await first(underWay))
      await ctx.run('shut', () => shut(id))
      return sum(answers)
    },
  },
})

async function first(underWay) {
  const { key, answer } = await restate.RestatePromise.race([...underWay.values()])
  underWay.delete(key)
  return answer
}

// freePorts returns ports that no process listens on.
async function freePorts(n) {
  const servers = Array.from({ length: n }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => server.address().port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

let server, admin, ingress

async function post(url, body) {
  const response = await fetch(url, {
    method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return response.json()
}

// ready reports whether the server serves requests and its journals can be read.
async function ready() {
  try {
    await countSteps()
    return (await fetch(`${ingress}/restate/health`)).ok
  } catch {
    return false
  }
}

// Journals are kept for a day: each step leaves a command in its invocation's.
async function countSteps() {
  const query = "select count(*) as n from sys_journal where entry_type = 'Command: Run'"
  return (await post(`${admin}/query`, { query })).rows[0].n
}

// startServer starts the program of the npm package and waits until it is ready.
async function startServer([node, adminPort, ingressPort]) {
  const program = createRequire(import.meta.url).resolve(
    `@restatedev/restate-server-${platform()}-${arch()}/bin/restate-server`,
  )
  admin = `http://127.0.0.1:${adminPort}`
  ingress = `http://127.0.0.1:${ingressPort}`
  server = spawn(program, ['--no-logo', '--listen-mode', 'tcp', '--base-dir', process.env.DATA_DIR], {
    env: {
      ...process.env, RESTATE_DISABLE_TELEMETRY: 'true', RESTATE_LOG_FILTER: 'error', RESTATE_NODE_NAME: 'bench',
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`, RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`, RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const until = Date.now() + 60_000
  while (!(await ready())) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
    if (Date.now() > until) throw new Error('the server did not answer within a minute')
    await sleep(100)
  }
}

await serve({
  async open() {
    const [endpoint, ...ports] = await freePorts(4)
    await startServer(ports)
    const handler = restate.createEndpointHandler({ services: [service] })
    await once(http2.createServer(handler).listen(endpoint, '127.0.0.1'), 'listening')
    await post(`${admin}/deployments`, { uri: `http://127.0.0.1:${endpoint}` })
  },
  loop: (id, turns) => post(`${ingress}/bench/loop`, { turns }),
  fan: (id, width, atOnce, napMs) => post(`${ingress}/bench/fan`, { id, width, atOnce, napMs }),
  records: countSteps,
  async close() {
    if (server === undefined || server.exitCode !== null) return
    server.kill('SIGTERM')
    await once(server, 'exit')
  },
})
