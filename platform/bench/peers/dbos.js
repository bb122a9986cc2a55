// DBOS with its system database in PostgreSQL. Each step's result is committed
// before the next step begins.
import { DBOS } from '@dbos-inc/dbos-sdk'
import pg from 'pg'

import { fanSteps, model, napper, open, poolSize, serve, shut, sum, text, tool } from './harness.js'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 1 })

const loop = DBOS.registerWorkflow(async (turns) => {
  let at = { number: 0, text }
  for (let turn = 0; turn < turns; turn++) {
    at = await DBOS.runStep(() => model(at), { name: 'model' })
    at = await DBOS.runStep(() => tool(at), { name: 'tool' })
  }
  return at.number
}, { name: 'loop' })

// Steps start in the order of their numbers, whichever ends first: so a recovered
// workflow gives each the same id.
const fan = DBOS.registerWorkflow(async (id, width, atOnce, napMs) => {
  const nap = napper(napMs)
  await DBOS.runStep(() => open(id), { name: 'open' })
  const steps = fanSteps(width)
  const answers = []
  let next = 0
  const lane = async () => {
    while (next < width) {
      const step = steps[next++]
      answers.push(await DBOS.runStep(() => nap(step), { name: 'nap' }))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  await DBOS.runStep(() => shut(id), { name: 'shut' })
  return sum(answers)
}, { name: 'fan' })

await serve({
  async open() {
    DBOS.setConfig({
      name: 'bench', systemDatabaseUrl: process.env.DATABASE_URL, systemDatabasePoolSize: poolSize, logLevel: 'error',
    })
    await DBOS.launch()
  },
  async loop(id, turns) {
    return DBOS.withNextWorkflowID(id, () => loop(turns))
  },
  async fan(id, width, atOnce, napMs) {
    return DBOS.withNextWorkflowID(id, () => fan(id, width, atOnce, napMs))
  },
  async records() {
    const { rows } = await pool.query('select count(*)::int as n from dbos.operation_outputs')
    return rows[0].n
  },
  async close() {
    await DBOS.shutdown()
    await pool.end()
  },
})
