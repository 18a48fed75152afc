import type { createChannelClient } from '../../support/channel-client.ts';

export type ChannelClient = ReturnType<typeof createChannelClient>;

/** A message with the times, in the order of all requests, between which it was first stored. */
export interface SentMessage {
  conversation: string;
  id: string;
  /** Its number among all requests when the first copy was sent. */
  sentAt: number;
  /** The number of the last request that was sent before the first acknowledgement. */
  acknowledgedAt: number;
  /** The ids of deliveries that the copies were acknowledged with. */
  deliveries: Set<string>;
}

interface Sender {
  conversation: string;
  messages: number;
  /** Messages that are sent at the same time, so that they overtake each other. 1: in order. */
  parallel: number;
}

const RETRY_MS = 100;
/** The share of messages that are sent again at once, and of those that are sent again after the next ones. */
const REPEATED = 0.2;
const REPEATED_LATE = 0.2;
const LATE_MS = 300;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Senders of a channel that repeat requests: without an answer, by chance, and after later messages. */
export function createSenders(client: ChannelClient, random: () => number) {
  const sent: SentMessage[] = [];
  const wrong: string[] = [];
  const late: Promise<void>[] = [];
  let requests = 0;

  async function copy(message: SentMessage, user: string): Promise<boolean> {
    const { conversation, id } = message;
    requests++;
    const response = await client.sendMessage(conversation, id, id, user).catch(() => undefined);
    if (!response) return false;
    const body = await response.text().catch(() => '');
    if (response.status === 202) {
      const { delivery_id: deliveryId } = (JSON.parse(body) as { data: { delivery_id: string } }).data;
      if (message.deliveries.size === 0) message.acknowledgedAt = requests;
      message.deliveries.add(deliveryId);
    } else if (response.status !== 429 && response.status < 500) wrong.push(`${response.status} ${body}`);
    return response.status === 202;
  }

  async function deliver(message: SentMessage, user: string): Promise<void> {
    while (!(await copy(message, user))) await pause(RETRY_MS);
    if (random() < REPEATED) await copy(message, user);
    if (random() < REPEATED_LATE) late.push(pause(random() * LATE_MS).then(() => void copy(message, user)));
  }

  return {
    sent,
    /** Responses that are neither a success nor a reason to send again. */
    wrong,
    get requests() {
      return requests;
    },
    /** Resolves when all messages are acknowledged. `onAcknowledged` is called with their number so far. */
    async send(
      { conversation, messages, parallel }: Sender,
      onAcknowledged: (count: number) => void = () => {},
    ): Promise<void> {
      let next = 0;
      let acknowledged = 0;
      const run = async () => {
        while (next < messages) {
          const id = `${conversation}, message ${next++}.`;
          const message = {
            conversation,
            id,
            sentAt: requests,
            acknowledgedAt: 0,
            deliveries: new Set<string>(),
          };
          sent.push(message);
          await deliver(message, `user of ${conversation}`);
          onAcknowledged(++acknowledged);
        }
      };
      await Promise.all(Array.from({ length: parallel }, run));
    },
    /** Resolves when the late copies have been answered. */
    async settled(): Promise<void> {
      await Promise.all(late);
    },
  };
}
