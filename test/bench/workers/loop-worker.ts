/**
 * Worker process, the bare limit of turns: conversations in a loop around the model library without a service, storage or
 * streaming to clients.
 */
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { type ModelMessage, streamText } from 'ai';
import { createEcho } from '../../../services/runner/models/rehearsal/echo.ts';
import { MESSAGE, TURNS_PER_CONVERSATION } from '../fixtures/conversation.ts';
import { runWorker } from './worker.ts';

export interface LoopJob {
  /** `streamText` is the library's public function; `doStream` is the call to a provider. */
  by: 'streamText' | 'doStream';
  /** Concurrent conversations. */
  atOnce: number;
  warmUpMs: number;
  durationMs: number;
}

export interface LoopFigures {
  turns: number;
  elapsedMs: number;
  cpuMs: number;
}

const model = createEcho();

/** A conversation with its history. `answer` processes the next message. */
interface Conversation {
  answer(): Promise<string>;
}

const conversations: Record<LoopJob['by'], () => Conversation> = {
  streamText() {
    const messages: ModelMessage[] = [];
    return {
      async answer() {
        messages.push({ role: 'user', content: MESSAGE });
        let text = '';
        for await (const delta of streamText({ model, messages }).textStream) text += delta;
        messages.push({ role: 'assistant', content: text });
        return text;
      },
    };
  },
  doStream() {
    const prompt: LanguageModelV4Prompt = [];
    return {
      async answer() {
        prompt.push({ role: 'user', content: [{ type: 'text', text: MESSAGE }] });
        let text = '';
        const { stream } = await model.doStream({ prompt });
        for await (const part of stream) if (part.type === 'text-delta') text += part.delta;
        prompt.push({ role: 'assistant', content: [{ type: 'text', text }] });
        return text;
      },
    };
  },
};

/**
 * Measures from the start of all conversations until the end of the last turn. Concurrent turns end in waves, which a shorter
 * window would cut.
 */
async function run({ by, atOnce }: LoopJob, durationMs: number): Promise<LoopFigures> {
  const begunAt = performance.now();
  const cpu = process.cpuUsage();
  let turns = 0;
  async function runConversations(): Promise<void> {
    while (performance.now() - begunAt < durationMs) {
      const conversation = conversations[by]();
      for (let turn = 1; turn <= TURNS_PER_CONVERSATION; turn++) {
        if (performance.now() - begunAt >= durationMs) return;
        const answer = await conversation.answer();
        if (answer !== MESSAGE) throw new Error(`unexpected answer of the echo model: ${answer}`);
        turns++;
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, runConversations));
  const { user, system } = process.cpuUsage(cpu);
  return { turns, elapsedMs: performance.now() - begunAt, cpuMs: (user + system) / 1_000 };
}

runWorker(async (job: LoopJob): Promise<LoopFigures> => {
  await run(job, job.warmUpMs);
  return run(job, job.durationMs);
});
