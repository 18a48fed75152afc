/**
 * The bare limit of turns: conversations in a loop around the model library, as somebody would write it who needs no
 * service. Nothing is kept, nothing is sent, nobody else can read along. Runs as a process of its own.
 */
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { type ModelMessage, streamText } from 'ai';
import { createEcho } from '../../services/runner/models/rehearsal/echo.ts';
import { carryOut } from './errand.ts';
import { MESSAGE, TURNS_PER_CONVERSATION } from './talk.ts';

export interface LoopJob {
  /** `streamText` is what users of the library call; `doStream` is what it asks of a provider. */
  by: 'streamText' | 'doStream';
  /** Conversations that go on at the same time. */
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

/** A conversation that knows what was said and answers the next message. */
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
 * From the beginning of all conversations until each has ended its last turn: they take turns at the processor and end
 * in waves, which a window in the middle would cut.
 */
async function run({ by, atOnce }: LoopJob, durationMs: number): Promise<LoopFigures> {
  const begunAt = performance.now();
  const cpu = process.cpuUsage();
  let turns = 0;
  async function talk(): Promise<void> {
    while (performance.now() - begunAt < durationMs) {
      const conversation = conversations[by]();
      for (let turn = 1; turn <= TURNS_PER_CONVERSATION; turn++) {
        if (performance.now() - begunAt >= durationMs) return;
        const answer = await conversation.answer();
        if (answer !== MESSAGE) throw new Error(`the echo said: ${answer}`);
        turns++;
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, talk));
  const { user, system } = process.cpuUsage(cpu);
  return { turns, elapsedMs: performance.now() - begunAt, cpuMs: (user + system) / 1_000 };
}

carryOut(async (job: LoopJob): Promise<LoopFigures> => {
  await run(job, job.warmUpMs);
  return run(job, job.durationMs);
});
