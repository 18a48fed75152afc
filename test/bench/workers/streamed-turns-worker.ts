/** Worker process: holds conversations whose answers are streams, each without pauses. */

import { beginConversation, type StreamProtocol } from '../clients/streamed-conversation.ts';
import { MESSAGE, TURNS_PER_CONVERSATION } from '../fixtures/conversation.ts';
import { runWorker } from './worker.ts';

export interface StreamedTurnsJob {
  port: number;
  agent: string;
  protocol: StreamProtocol;
  conversations: number;
  warmUpMs: number;
  durationMs: number;
}

/** Of the turns within the measured time. */
export interface StreamedTurnsFigures {
  turns: number;
  firstTokensMs: number[];
  /** CPU time of this worker in that time. */
  cpuMs: number;
}

runWorker(async (job: StreamedTurnsJob, ready): Promise<StreamedTurnsFigures> => {
  const from = performance.now() + job.warmUpMs;
  const until = from + job.durationMs;
  const firstTokensMs: number[] = [];
  let begun = 0;
  let warmedUp = process.cpuUsage();
  const warm = setTimeout(() => {
    warmedUp = process.cpuUsage();
    ready();
  }, job.warmUpMs);

  async function converse(): Promise<void> {
    while (performance.now() < until) {
      // A chat is recognised by its messages, so those of two conversations differ.
      const name = `${process.pid}-${begun++}`;
      const conversation = await beginConversation(job);
      for (let turn = 1; turn <= TURNS_PER_CONVERSATION && performance.now() < until; turn++) {
        const { firstTokenMs } = await conversation.send(`${name}: ${MESSAGE}`);
        const now = performance.now();
        if (now >= from && now <= until) firstTokensMs.push(firstTokenMs);
      }
      conversation.close();
    }
  }

  await Promise.all(Array.from({ length: job.conversations }, converse)).finally(() => clearTimeout(warm));
  const { user, system } = process.cpuUsage(warmedUp);
  return { turns: firstTokensMs.length, firstTokensMs, cpuMs: (user + system) / 1_000 };
});
