import { telegramRules } from '../../../../services/channels/products/telegram/rules.ts';
import { type Api, createApi, dataOfCreated } from '../../../support/api.ts';
import { startTelegram, type Telegram } from '../../../support/products/telegram/server.ts';
import { until } from '../../../support/wait.ts';
import { type Bench, type Spread, spreadOf, within } from '../../bench.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

export interface EditDelay extends Spread {
  edits: number;
}

/** How far the answer has come in a journal event, or in a request to the product. */
interface Progress {
  /** Milliseconds since the epoch. */
  at: number;
  /** The number in its last word. */
  lastWord: number;
}

/** The delay of a request beyond the pace. */
interface Delay {
  ms: number;
  /** It has created the message. */
  isFirst: boolean;
}

const CHATS = 50;
const MIN_CHATS = 5;
const WORD_MS = 100;
/** Long enough for two edits after the message has been created. */
const MIN_TEXT_MS = 3_000;
/** The deltas of a turn fit into a page of events, and its text into one message. */
const MAX_TEXT_MS = 30_000;
const SETTLE_MS = 30_000;
const FIRST_WORD = 1_001;
const PACE_MS = telegramRules.editIntervalMs({ place: '', thread: '', isGroup: false });

/**
 * t': from a delta in the journal to the request of the channel worker that shows it, without the pace: the time that the
 * worker had to wait since the request before. The private chats of one bot receive streamed answers at the same time.
 */
export async function measureEditDelay(bench: Bench): Promise<EditDelay> {
  await using telegram = await startTelegram();
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url, undefined, {
    SERVICE_CHANNELS_API_URLS: `telegram=${telegram.apiUrl}`,
  });
  const textMs = Math.min(MAX_TEXT_MS, Math.max(MIN_TEXT_MS, 2 * bench.durationMs));
  const chats = Math.max(MIN_CHATS, Math.ceil(CHATS * bench.scale));
  const delays = await Promise.race([
    subject.failed,
    within('the edits', delaysOf(telegram, createApi(subject.origin), chats, textMs)),
  ]);
  const all = delays.map(({ ms }) => ms);
  // The first request of an answer creates its message, and its post is stored before.
  const later = delays.filter(({ isFirst }) => !isFirst).map(({ ms }) => ms);
  bench.print(
    "t'",
    `from a delta to its edit, ${all.length} edits in ${chats} chats: ` +
      `${described(all)} beyond the pace of ${PACE_MS} ms; without the first ones of all chats: ${described(later)}`,
  );
  return { ...spreadOf(all), edits: all.length };
}

function described(delays: readonly number[]): string {
  const { p50Ms, p99Ms } = spreadOf(delays);
  return `p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`;
}

async function delaysOf(telegram: Telegram, api: Api, chats: number, textMs: number): Promise<Delay[]> {
  const words = Array.from({ length: textMs / WORD_MS }, (_, index) => `w${FIRST_WORD + index} `);
  const step = { text: words.join(''), chunk_chars: words[0]?.length, delay_ms: WORD_MS };
  const agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps: [step] } });
  const deployments = `/admin/agents/${agent}/deployments`;
  const created = await api.post(deployments, {
    ...{ type: 'channel', provider: 'telegram', name: 'Edits' },
    config: { mode: 'polling', access: { mode: 'anyone' } },
    credentials: { bot_token: telegram.bot.token },
  });
  const path = `${deployments}/${dataOfCreated(created).deployment_id}`;
  await until('the bot polls', () => telegram.requests.some(({ method }) => method === 'getUpdates'));
  const places = Array.from({ length: chats }, (_, index) => {
    const from = telegram.createUser({ firstName: `User ${index}` });
    return { from, chat: telegram.privateChat(from) };
  });
  for (const place of places) telegram.post({ ...place, text: 'Hello' });
  const answers = places.map(({ chat }) => String(chat.id));
  const isShown = (id: string) => progressOf(telegram, id).at(-1)?.lastWord === FIRST_WORD + words.length - 1;
  await until('all answers are shown', () => answers.every(isShown), textMs + SETTLE_MS);
  const conversations = await api.list<{ conversation: string; session_id: string }>(
    `${path}/conversations?limit=100`,
  );
  const delays: Delay[] = [];
  for (const { conversation, session_id: id } of conversations) {
    const deltas = await deltasOf(api, id);
    delays.push(...beyondPace(deltas, progressOf(telegram, conversation)));
  }
  if (delays.length < chats) throw new Error(`only ${delays.length} edits were found for ${chats} chats`);
  return delays;
}

async function deltasOf(api: Api, sessionId: string): Promise<Progress[]> {
  const events = await api.list<{ created_at: string; data: { delta: string } }>(
    `/sessions/${sessionId}/events?types=agent.message_delta&limit=100`,
  );
  return events.map(({ created_at: at, data }) => ({ at: Date.parse(at), lastWord: lastWordOf(data.delta) }));
}

/** The requests that show a text in a chat. */
function progressOf({ requests }: Telegram, chat: string): Progress[] {
  return requests
    .filter(({ parameters }) => String(parameters.chat_id) === chat && 'text' in parameters)
    .map(({ at, parameters }) => ({ at, lastWord: lastWordOf(String(parameters.text)) }));
}

function lastWordOf(text: string): number {
  return Number(text.match(/w\d+/g)?.at(-1)?.slice(1) ?? 0);
}

/** One delay for each request with new text: from the oldest delta in it, or from the end of the pace, to its arrival. */
function beyondPace(deltas: readonly Progress[], requests: readonly Progress[]): Delay[] {
  const delays: Delay[] = [];
  let shown = 0;
  let pacedUntil = 0;
  for (const { at, lastWord } of requests) {
    const oldest = deltas.find((delta) => delta.lastWord > shown);
    if (oldest && lastWord > shown)
      delays.push({ ms: at - Math.max(oldest.at, pacedUntil), isFirst: shown === 0 });
    shown = Math.max(shown, lastWord);
    pacedUntil = at + PACE_MS;
  }
  return delays;
}
