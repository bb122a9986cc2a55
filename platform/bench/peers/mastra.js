// Mastra workflows with snapshots in PostgreSQL: the default, a snapshot for each
// step.
import { Mastra } from '@mastra/core'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { PostgresStore } from '@mastra/pg'
import pg from 'pg'
import { z } from 'zod'

import { fanSteps, model, napper, open, poolSize, serve, shut, sum, text, tool } from './harness.js'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: poolSize })
const storage = new PostgresStore({ id: 'bench', pool })

const step = z.object({ number: z.number(), text: z.string() })
const turnState = step.extend({ turns: z.number() })

const turn = createWorkflow({ id: 'turn', inputSchema: turnState, outputSchema: turnState })
  .then(createStep({
    id: 'model', inputSchema: turnState, outputSchema: turnState,
    execute: async ({ inputData }) => ({ ...(await model(inputData)), turns: inputData.turns }),
  }))
  .then(createStep({
    id: 'tool', inputSchema: turnState, outputSchema: turnState,
    execute: async ({ inputData }) => ({ ...(await tool(inputData)), turns: inputData.turns }),
  }))
  .commit()

const loop = createWorkflow({ id: 'loop', inputSchema: turnState, outputSchema: turnState })
  .dountil(turn, async ({ inputData }) => inputData.number >= inputData.turns)
  .commit()

const fanInput = z.object({ id: z.string(), width: z.number(), napMs: z.number() })
const napInput = step.extend({ napMs: z.number() })

// fan returns the fan-out that makes so many calls at once: the workflow fixes it.
function fan(atOnce) {
  return createWorkflow({ id: 'fan', inputSchema: fanInput, outputSchema: z.object({ sum: z.number() }) })
    .then(createStep({
      id: 'open', inputSchema: fanInput, outputSchema: z.array(napInput),
      execute: async ({ inputData }) => {
        const steps = fanSteps(inputData.width).map((one) => ({ ...one, napMs: inputData.napMs }))
        await open(inputData.id)
        return steps
      },
    }))
    .foreach(createStep({
      id: 'nap', inputSchema: napInput, outputSchema: step,
      execute: async ({ inputData }) => napper(inputData.napMs)(inputData),
    }), { concurrency: atOnce })
    .then(createStep({
      id: 'shut', inputSchema: z.array(step), outputSchema: z.object({ sum: z.number() }),
      execute: async ({ inputData, runId }) => {
        await shut(runId)
        return { sum: sum(inputData) }
      },
    }))
    .commit()
}

const mastra = new Mastra({ workflows: { loop, fan: fan(8) }, storage, logger: false })

// run runs a workflow and returns its result.
async function run(name, id, inputData) {
  const started = await mastra.getWorkflow(name).createRun({ runId: id })
  const ended = await started.start({ inputData })
  if (ended.status !== 'success') throw ended.error ?? new Error(`the workflow ended as ${ended.status}`)
  return ended.result
}

await serve({
  async open() {
    await storage.init()
  },
  async loop(id, turns) {
    return (await run('loop', id, { number: 0, text, turns })).number
  },
  async fan(id, width, atOnce, napMs) {
    if (atOnce !== 8) throw new Error(`the workflow makes 8 calls at once, not ${atOnce}`)
    return (await run('fan', id, { id, width, napMs })).sum
  },
  async records() {
    const { rows } = await pool.query(
      "select count(*)::int as n from mastra_workflow_snapshot where snapshot->>'status' = 'success'",
    )
    return rows[0].n
  },
  async close() {
    await pool.end()
  },
})
