/**
 * Measures the CPU time of a turn and compares it with the AI SDK alone:
 *
 *   node test/services/runner/turn-cpu-cost.ts [words] [turns] [ours|call|loop]
 *
 * `ours` is the runner with in-memory services over the in-process transport. `call` is one model call of the
 * AI SDK, and `loop` is the agent loop of the AI SDK.
 */

import { experimental_streamLanguageModelCall as streamCall, streamText } from 'ai';
import { systemClock } from '../../../lib/clock.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { createModels } from '../../../services/runner/models/registry.ts';
import { openRunner } from '../../../services/runner/service.ts';
import { connect, createContext } from '../../support/context.ts';
import { fakeService } from '../../support/fake-service.ts';
import { createFakeAgents } from './fake-agents.ts';
import { createFakeSessions, queuedTurn } from './fake-sessions.ts';

const [words = 5, turns = 4_000] = process.argv.slice(2, 4).map(Number);
const selected = process.argv[4];
const text = Array.from({ length: words }, (_, index) => `word${index}`).join(' ');
const languageModel = createModels(systemClock)('rehearsal/echo')!.languageModel;
const CONCURRENT = 64;

async function callOnce(): Promise<void> {
  const { stream } = await streamCall({ model: languageModel, messages: [{ role: 'user', content: text }] });
  for await (const _ of stream);
}

async function loopOnce(): Promise<void> {
  const messages = [{ role: 'user' as const, content: text }];
  const { stream } = streamText({
    model: languageModel,
    messages,
    maxRetries: 0,
    telemetry: { isEnabled: false },
  });
  for await (const _ of stream);
}

async function runConcurrently(once: () => Promise<void>): Promise<void> {
  let left = turns;
  const runConversations = async () => {
    while (left-- > 0) await once();
  };
  await Promise.all(Array.from({ length: CONCURRENT }, runConversations));
}

async function runTurns(): Promise<void> {
  const context = createContext('');
  const fakeSessions = createFakeSessions(context);
  const fakeAgents = createFakeAgents(context);
  fakeAgents.add({});
  for (let i = 0; i < turns; i++) fakeSessions.queue(queuedTurn(`trn_${i}`, text));
  const sessions = (
    await connect(SessionsServiceDefinition, fakeSessions.endpoint, 'in process', context)
  ).as('runner');
  const agents = (await connect(AgentsServiceDefinition, fakeAgents.endpoint, 'in process', context)).as(
    'runner',
  );
  const files = fakeService(FilesServiceDefinition, {}, 'runner', context);
  const vaults = fakeService(VaultsServiceDefinition, {}, 'runner', context);
  const config = {
    slots: CONCURRENT,
    reportIntervalMs: 30,
    unfollowedReportIntervalMs: 500,
    stepTimeoutSeconds: 600,
    toolTimeoutSeconds: 120,
    maxSandboxes: 1,
    drainMs: 0,
    mcpMaxTools: 256,
  };
  let ended = 0;
  const finished = new Promise<void>((resolve) => {
    fakeSessions.after.report = ({ reports }) => {
      ended += reports.filter(({ outcome }) => outcome).length;
      if (ended === turns) resolve();
    };
  });
  const module = await openRunner(context, config, { sessions, agents, files, vaults });
  await finished;
  await module.drain?.();
  await module.stop();
}

async function measure(name: string, work: () => Promise<void>): Promise<void> {
  if (selected !== undefined && selected !== name) return;
  await work();
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  const wall = performance.now() - startedAt;
  const each = Math.round((user + system) / turns);
  console.log(
    `${name.padEnd(5)} ${words} words: ${each} µs CPU a turn, ${Math.round((turns / wall) * 1_000)} turns/s`,
  );
}

await measure('call', () => runConcurrently(callOnce));
await measure('loop', () => runConcurrently(loopOnce));
await measure('ours', runTurns);
