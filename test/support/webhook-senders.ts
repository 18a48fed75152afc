import type { Api, Webhook } from './api.ts';

const RETRY_MS = 5;

interface WebhookSenders {
  /** Ids of the sessions whose request returned 200. */
  acknowledged: string[];
  /** Stops sending. Resolves when the last responses have arrived. */
  stop(): Promise<void>;
}

/** Starts senders of a webhook. Each pauses between its requests and repeats failed requests. */
export function startWebhookSenders(
  api: Api,
  webhook: Webhook,
  body: string,
  { count, pauseMs }: { count: number; pauseMs: number },
): WebhookSenders {
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
