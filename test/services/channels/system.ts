import { readSettings } from '../../../lib/env/read-settings.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import type { WorkChannel } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import {
  type CreateSessionRequest,
  type Event,
  type SendMessageRequest,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { settings } from '../../../services/channels/config.ts';
import type { JournalEvent } from '../../../services/channels/rendering/journal-fold.ts';
import { openChannels } from '../../../services/channels/service.ts';
import { createContext } from '../../support/context.ts';
import { fakeService } from '../../support/fake-service.ts';
import { createFakeDeployments, type FakeDeployments } from './fake-deployments.ts';

type SessionHandlers = Partial<Handlers<typeof SessionsServiceDefinition>>;

export interface ChannelsSystem extends AsyncDisposable {
  context: ServiceContext;
  deployments: FakeDeployments;
  created: CreateSessionRequest[];
  sent: SendMessageRequest[];
  /** Files by path, as text. */
  files: Map<string, string>;
  /** The owners in whose name sessions and files were called. */
  callers: Set<string | undefined>;
  /** Appends events to the journal that conversations follow. */
  append(...events: JournalEvent[]): void;
  module: Awaited<ReturnType<typeof openChannels>>;
}

interface SystemOptions {
  channel?: Partial<WorkChannel>;
  env?: Record<string, string>;
  sessions?: SessionHandlers;
}

/** A channel worker with fake services. */
export async function openChannelsSystem({
  channel,
  env = {},
  sessions: more = {},
}: SystemOptions = {}): Promise<ChannelsSystem> {
  const context = createContext('');
  const deployments = createFakeDeployments(context, channel);
  const journal: Event[] = [];
  const created: CreateSessionRequest[] = [];
  const sent: SendMessageRequest[] = [];
  const files = new Map<string, string>();
  const contents: string[] = [];
  const callers = new Set<string | undefined>();
  let appended = () => {};

  const sessionHandlers: SessionHandlers = {
    async createSession(request, call) {
      callers.add(call.caller?.userId);
      created.push(request);
      return { sessionId: 'ses_new', turnId: '' };
    },
    async sendMessage(request, call) {
      callers.add(call.caller?.userId);
      sent.push(request);
      return { turnId: 'trn_1', seq: 1, replayed: false };
    },
    async *follow({ afterSeq, passive }, call) {
      callers.add(call.caller?.userId);
      if (!passive) throw new Error('the worker counts as a follower');
      let position = afterSeq;
      while (!call.signal.aborted) {
        const events = journal.filter(({ seq }) => seq > position);
        position = journal.at(-1)?.seq ?? position;
        yield { events, seq: position, caughtUp: true };
        await new Promise<void>((resolve) => {
          appended = resolve;
          call.signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    },
    ...more,
  };
  const sessions = fakeService(SessionsServiceDefinition, sessionHandlers, 'channels', context);
  const filesClient = fakeService(
    FilesServiceDefinition,
    {
      async writeContents(messages, call) {
        callers.add(call.caller?.userId);
        const bytes: Buffer[] = [];
        for await (const { kind } of messages) if (kind?.$case === 'bytes') bytes.push(kind.value);
        const text = Buffer.concat(bytes).toString();
        contents.push(text);
        const contentId = `cnt_${contents.length - 1}`;
        return { contents: [{ contentId, size: Buffer.byteLength(text), sha256: '' }] };
      },
      async changeWorkspace({ changes }) {
        for (const { kind } of changes) {
          if (kind?.$case !== 'putFile') continue;
          files.set(kind.value.path, contents[Number(kind.value.contentId.slice(4))] ?? '');
        }
        return { workspace: undefined, entries: [], conflicts: [], replayed: false };
      },
    },
    'channels',
    context,
  );
  const config = readSettings(settings, env, []);
  const clients = { deployments: deployments.client, sessions, files: filesClient };
  const module = await openChannels(context, config, clients);
  return {
    ...{ context, deployments, created, sent, files, callers, module },
    append(...events) {
      for (const event of events)
        journal.push({ seq: event.seq, type: event.type, json: JSON.stringify(event) });
      appended();
    },
    async [Symbol.asyncDispose]() {
      await module.drain?.();
      await module.stop();
      await context.bus.close();
    },
  };
}
