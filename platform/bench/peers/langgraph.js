// LangGraph.js with its PostgreSQL checkpointer. Durability "sync" writes each
// checkpoint before the next step begins.
import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import pg from 'pg'

import { fanSteps, model, napper, open, poolSize, serve, shut, sum, text, tool } from './harness.js'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: poolSize })
const checkpointer = new PostgresSaver(pool)

// The state is the last answer, not a transcript: the least that LangGraph can write.
const loopState = Annotation.Root({ turns: Annotation(), step: Annotation() })

const loop = new StateGraph(loopState)
  .addNode('model', async (state) => ({ step: await model(state.step) }))
  .addNode('tool', async (state) => ({ step: await tool(state.step) }))
  .addEdge(START, 'model')
  .addEdge('model', 'tool')
  .addConditionalEdges('tool', (state) => (state.step.number < state.turns ? 'model' : END), ['model', END])
  .compile({ checkpointer })

const fanState = Annotation.Root({
  id: Annotation(),
  width: Annotation(),
  answers: Annotation({ reducer: (all, more) => all.concat(more), default: () => [] }),
})

// The nap is the same in every fan-out of a benchmark.
let nap

const fan = new StateGraph(fanState)
  .addNode('open', async (state) => (await open(state.id), {}))
  .addNode('nap', async (step) => ({ answers: [await nap(step)] }))
  .addNode('shut', async (state) => (await shut(state.id), {}))
  .addEdge(START, 'open')
  .addConditionalEdges('open', (state) => fanSteps(state.width).map((step) => new Send('nap', step)), ['nap'])
  .addEdge('nap', 'shut')
  .addEdge('shut', END)
  .compile({ checkpointer })

function config(id, more) {
  return { configurable: { thread_id: id }, durability: 'sync', ...more }
}

await serve({
  async open() {
    await checkpointer.setup()
  },
  async loop(id, turns) {
    const state = await loop.invoke({ turns, step: { number: 0, text } }, config(id, { recursionLimit: 2 * turns + 5 }))
    return state.step.number
  },
  async fan(id, width, atOnce, napMs) {
    nap = napper(napMs)
    const state = await fan.invoke({ id, width }, config(id, { maxConcurrency: atOnce }))
    return sum(state.answers)
  },
  async records() {
    const { rows } = await pool.query('select count(*)::int as n from checkpoints')
    return rows[0].n
  },
  async close() {
    await pool.end()
  },
})
