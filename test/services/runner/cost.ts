/**
 * What a turn costs in CPU, next to the bare library doing the same:
 *
 *   node test/services/runner/cost.ts [words] [turns] [ours|call|loop]
 *
 * `ours` is the whole runner against contracts kept in memory, over the in-process transport; `call` is one
 * bare call of the library, `loop` its own agent loop.
 */

import { experimental_streamLanguageModelCall as streamCall, streamText } from 'ai';
import { systemClock } from '../../../lib/clock.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createModels } from '../../../services/runner/models/registry.ts';
import { openRunner } from '../../../services/runner/service.ts';
import { connect, createContext } from '../../support/context.ts';
import { fakeService } from '../../support/fake-service.ts';
import { createAgentBook } from './agents.ts';
import { asked, createTurnBook } from './sessions.ts';

const [words = 5, turns = 4_000] = process.argv.slice(2, 4).map(Number);
const only = process.argv[4];
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

async function many(once: () => Promise<void>): Promise<void> {
  let left = turns;
  const one = async () => {
    while (left-- > 0) await once();
  };
  await Promise.all(Array.from({ length: CONCURRENT }, one));
}

async function runner(): Promise<void> {
  const context = createContext('');
  const book = createTurnBook(context);
  const agentBook = createAgentBook(context);
  agentBook.add({});
  for (let i = 0; i < turns; i++) book.queue(asked(`trn_${i}`, text));
  const sessions = (await connect(SessionsServiceDefinition, book.endpoint, 'in process', context)).as(
    'runner',
  );
  const agents = (await connect(AgentsServiceDefinition, agentBook.endpoint, 'in process', context)).as(
    'runner',
  );
  const files = fakeService(FilesServiceDefinition, {}, 'runner', context);
  const config = {
    slots: CONCURRENT,
    reportIntervalMs: 30,
    stepTimeoutSeconds: 600,
    toolTimeoutSeconds: 120,
    mostSandboxes: 1,
    drainMs: 0,
  };
  let ended = 0;
  const finished = new Promise<void>((resolve) => {
    book.after.report = ({ reports }) => {
      ended += reports.filter(({ outcome }) => outcome).length;
      if (ended === turns) resolve();
    };
  });
  const module = await openRunner(context, config, { sessions, agents, files });
  await finished;
  await module.drain?.();
  await module.stop();
}

async function measure(name: string, work: () => Promise<void>): Promise<void> {
  if (only !== undefined && only !== name) return;
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

await measure('call', () => many(callOnce));
await measure('loop', () => many(loopOnce));
await measure('ours', runner);
