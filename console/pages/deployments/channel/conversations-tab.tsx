import { MessagesSquare } from 'lucide-react';
import { channels } from '../../../api/channels.ts';
import type { Channel, ChannelConversation } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { TextLink } from '../../../parts/navigation/links.tsx';
import { useList } from '../../../parts/resources/list.tsx';
import { Listing } from '../../../parts/resources/listing.tsx';
import type { Column } from '../../../parts/resources/long-list.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Time } from '../../../ui/time.tsx';
import { requests } from '../requests.ts';
import { CONVERSATION_STATES, reasonText } from './labels.ts';

const COLUMNS: readonly Column<ChannelConversation>[] = [
  { name: 'Conversation', cell: (conversation) => <Title conversation={conversation} /> },
  { name: 'State', className: 'w-32', cell: (conversation) => <State conversation={conversation} /> },
  { name: 'People', className: 'w-20', cell: ({ people }) => people },
  { name: 'Last message', className: 'w-36', cell: ({ last_in_at: at }) => <Time at={at} /> },
  { name: 'Waiting posts', className: 'w-28', cell: ({ waiting_posts: count }) => count },
  {
    name: 'Session',
    className: 'w-24',
    cell: (conversation) => <SessionLink id={conversation.session_id} />,
  },
];

/** The conversations of a channel with their sessions. */
export function ConversationsTab({ channel }: { channel: Channel }) {
  const list = useList(channels.conversations(channel));
  return (
    <div className="flex flex-col gap-4">
      <div className="flex justify-end">
        <CopyCurl {...requests.conversations(channel)} about="conversations" />
      </div>
      <Listing
        noun="conversations"
        list={list}
        keyOf={({ conversation }) => conversation}
        columns={COLUMNS}
        card={(conversation) => (
          <div className="flex flex-col gap-1">
            <Title conversation={conversation} />
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <State conversation={conversation} />
              <Time at={conversation.last_in_at} />
              <SessionLink id={conversation.session_id} />
            </div>
          </div>
        )}
        curl={requests.conversations(channel)}
        empty={
          <EmptyState icon={<MessagesSquare />}>
            No conversations yet.{' '}
            <TextLink to="." search={{ tab: 'setup' }}>
              Show the next step
            </TextLink>
          </EmptyState>
        }
      />
    </div>
  );
}

function Title({ conversation: { title, conversation: id } }: { conversation: ChannelConversation }) {
  return (
    <span className="block min-w-0">
      {title !== null && (
        <span className="block truncate" dir="auto" title={title}>
          {title}
        </span>
      )}
      <span className="block truncate font-mono text-xs text-muted" title={id}>
        {id}
      </span>
    </span>
  );
}

function State({ conversation: { state, reason } }: { conversation: ChannelConversation }) {
  const { text, tone } = CONVERSATION_STATES[state];
  return (
    <span>
      <Badge tone={tone}>{text}</Badge>
      {reason !== null && <span className="block text-[13px] text-muted">{reasonText(reason)}</span>}
    </span>
  );
}

export function SessionLink({ id: sessionId }: { id: string | null }) {
  if (sessionId === null) return null;
  return (
    <TextLink to="/sessions/$sessionId" params={{ sessionId }}>
      Session
    </TextLink>
  );
}
