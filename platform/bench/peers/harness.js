// The part that all peers share: the work, its counts, and the protocol.
//
// The benchmark starts one process for each peer. It writes a command to standard
// input, one JSON object a line, and reads one reply for each from file descriptor
// 3: libraries may write to standard output. The process ends when standard input
// does.
//
//   command  {"work":"loop","count":48,"at_once":16,"turns":10}
//            {"work":"fan","count":5,"width":32,"at_once":8,"nap_ms":50}
//   reply    {"took_ms":…,"each_ms":[…],"answers":[…],"steps":{"model":…},"records":…}
//            {"error":"…"}
//
// The first reply, {"ready":true}, comes without a command.
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

// The same 180 bytes as in the benchmark's own steps: 200 with the JSON around.
export const text = "a tool's text, ".repeat(12)

const counts = { model: 0, tool: 0, nap: 0 }

// model is a model that takes no time: it asks for the next number.
export async function model(step) {
  counts.model++
  return { number: step.number, text }
}

// tool counts one further: a call that was left out or made twice shows in the answer.
export async function tool(step) {
  counts.tool++
  return { number: step.number + 1, text: step.text }
}

// napper returns the slow tool of the fan-out.
export function napper(ms) {
  return async function nap(step) {
    counts.nap++
    await sleep(ms)
    return { number: step.number + 1, text: step.text }
  }
}

// A fan-out is measured from the end of the step before it to the beginning of the
// step after it, like an agent's: from the model's answer until it is asked again.
const opened = new Map()
const fanTimes = new Map()

// open is the step before a fan-out.
export async function open(id) {
  opened.set(id, performance.now())
  return true
}

// shut is the step after a fan-out.
export async function shut(id) {
  fanTimes.set(id, performance.now() - opened.get(id))
  return true
}

export function fanSteps(width) {
  return Array.from({ length: width }, (_, number) => ({ number, text }))
}

export function sum(steps) {
  return steps.reduce((total, step) => total + step.number, 0)
}

// poolSize bounds each connection pool, as in all other code that is measured.
export const poolSize = 16

// serve opens a peer and carries out commands. A peer has:
//
//   open()                                    starts it
//   loop(id, turns)                           returns the number that was counted to
//   fan(id, width, atOnce, napMs)             returns the sum of the answers
//   records()                                 returns how many durable records there are
//   close()                                   stops it
export async function serve(peer) {
  try {
    await peer.open()
    reply({ ready: true })
    for await (const line of createInterface({ input: process.stdin })) {
      reply(await perform(peer, JSON.parse(line)))
    }
  } catch (error) {
    reply({ error: String(error?.stack ?? error) })
    process.exitCode = 1
  }
  await peer.close()
  process.exit()
}

function reply(message) {
  writeSync(3, JSON.stringify(message) + '\n')
}

async function perform(peer, command) {
  for (const name in counts) counts[name] = 0
  const before = await peer.records()
  const each = []
  const answers = []
  const one = async () => {
    const id = randomUUID()
    const began = performance.now()
    if (command.work === 'loop') {
      answers.push(await peer.loop(id, command.turns))
      each.push(performance.now() - began)
      return
    }
    answers.push(await peer.fan(id, command.width, command.at_once, command.nap_ms))
    each.push(fanTimes.get(id))
  }
  const began = performance.now()
  await repeat(command.count, command.work === 'loop' ? command.at_once : 1, one)
  const took = performance.now() - began
  return {
    took_ms: took, each_ms: each, answers, steps: { ...counts }, records: (await peer.records()) - before,
  }
}

// repeat does something many times, some at a time.
async function repeat(count, atOnce, one) {
  let left = count
  const lane = async () => {
    while (left-- > 0) await one()
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane))
}
