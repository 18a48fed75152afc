import type { Api, Webhook } from './api.ts';

const RETRY_MS = 5;

export interface Senders {
  /** Sessions that were acknowledged with a 200. */
  acknowledged: string[];
  /** Sends no more; resolves when the last answers are there. */
  stop(): Promise<void>;
}

/** Senders of a webhook, each with a pause between its requests, who do not mind a failure. */
export function startSenders(
  api: Api,
  webhook: Webhook,
  body: string,
  { count, pauseMs }: { count: number; pauseMs: number },
): Senders {
  const acknowledged: string[] = [];
  let stopped = false;
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  async function send(): Promise<void> {
    while (!stopped) {
      const answer = await api.trigger(webhook, body).catch(() => undefined);
      if (answer?.status === 200) acknowledged.push(String(answer.body.data.session_id));
      await pause(answer?.status === 200 ? pauseMs : RETRY_MS);
    }
  }

  const sending = Promise.all(Array.from({ length: count }, send));
  return {
    acknowledged,
    async stop() {
      stopped = true;
      await sending;
    },
  };
}
