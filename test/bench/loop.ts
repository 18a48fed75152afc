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
  conversations: number;
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

carryOut(async (job: LoopJob): Promise<LoopFigures> => {
  const from = performance.now() + job.warmUpMs;
  const until = from + job.durationMs;
  let begun: { at: number; cpu: NodeJS.CpuUsage } | undefined;
  let ended = { at: from, cpu: process.cpuUsage() };
  let turns = 0;

  async function talk(): Promise<void> {
    while (performance.now() < until) {
      const conversation = conversations[job.by]();
      for (let turn = 1; turn <= TURNS_PER_CONVERSATION && performance.now() < until; turn++) {
        const answer = await conversation.answer();
        if (answer !== MESSAGE) throw new Error(`the echo said: ${answer}`);
        const at = performance.now();
        if (at < from || at > until) continue;
        // By what has ended, as a timer would come late in a process that never rests.
        ended = { at, cpu: process.cpuUsage() };
        if (begun) turns++;
        else begun = ended;
      }
    }
  }

  await Promise.all(Array.from({ length: job.conversations }, talk));
  if (!begun) throw new Error('no turn has ended in the measured time');
  const cpuOf = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;
  return { turns, elapsedMs: ended.at - begun.at, cpuMs: cpuOf(ended.cpu) - cpuOf(begun.cpu) };
});
