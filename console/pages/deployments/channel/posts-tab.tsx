import { useQueryClient } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { useMemo, useState } from 'react';
import { channels } from '../../../api/channels.ts';
import type { Channel, Post } from '../../../gen/index.ts';
import { ActionButton } from '../../../parts/actions/action-button.tsx';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { useList } from '../../../parts/resources/list.tsx';
import { Listing } from '../../../parts/resources/listing.tsx';
import type { Column } from '../../../parts/resources/long-list.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Select } from '../../../ui/select.tsx';
import { Time } from '../../../ui/time.tsx';
import { requests } from '../requests.ts';
import { POST_STATES } from './labels.ts';

const STATES: readonly { value: Post['state'] | 'any'; text: string }[] = [
  { value: 'any', text: 'Any state' },
  ...Object.entries(POST_STATES).map(([value, { text }]) => ({ value: value as Post['state'], text })),
];

const KINDS: Record<Post['kind'], string> = {
  message: 'Answer',
  approval: 'Approval',
  notice: 'Notice',
  file: 'File',
};

const columnsOf = (channel: Channel): readonly Column<Post>[] => [
  { name: 'Time', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
  { name: 'Kind', className: 'w-28', cell: (post) => <Kind post={post} /> },
  { name: 'State', className: 'w-28', cell: (post) => <State post={post} /> },
  { name: 'Conversation', className: 'w-44', cell: ({ conversation: id }) => <Conversation id={id} /> },
  { name: 'Problem', cell: ({ error }) => <span className="wrap-anywhere">{error ?? ''}</span> },
  {
    name: 'Actions',
    hideName: true,
    className: 'w-36 text-end',
    cell: (post) => <Resend channel={channel} post={post} />,
  },
];

/** What the product shows, or should show. */
export function PostsTab({ channel }: { channel: Channel }) {
  const [state, setState] = useState<Post['state']>();
  const list = useList(channels.posts(channel, state));
  const columns = useMemo(() => columnsOf(channel), [channel]);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap justify-between gap-2">
        <Select
          label="State"
          value={state ?? 'any'}
          options={STATES}
          onChange={(chosen) => setState(chosen === 'any' ? undefined : chosen)}
        />
        <CopyCurl {...requests.posts(channel, state)} about="posts" />
      </div>
      <Listing
        noun="posts"
        list={list}
        keyOf={({ post_id: id }) => id}
        columns={columns}
        card={(post) => (
          <div className="flex items-start gap-2">
            <div className="flex min-w-0 flex-1 flex-col gap-1">
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                <State post={post} />
                <Kind post={post} />
                <Time at={post.updated_at} />
              </div>
              <Conversation id={post.conversation} />
              <span className="text-[13px] text-muted wrap-anywhere">{post.error ?? ''}</span>
            </div>
            <Resend channel={channel} post={post} />
          </div>
        )}
        curl={requests.posts(channel, state)}
        empty={
          <EmptyState icon={<Send />}>
            {state === undefined ? 'No posts yet.' : 'No matching posts.'}
          </EmptyState>
        }
      />
    </div>
  );
}

function Kind({ post: { kind, part } }: { post: Post }) {
  return (
    <span>
      {KINDS[kind]}
      {part > 0 && `, part ${part + 1}`}
    </span>
  );
}

function State({ post: { state, maybe_duplicate: isUnsure } }: { post: Post }) {
  const { text, tone } = POST_STATES[state];
  return (
    <span>
      <Badge tone={tone}>{text}</Badge>
      {isUnsure && <span className="block text-[13px] text-muted">Possibly shown twice</span>}
    </span>
  );
}

const Conversation = ({ id }: { id: string }) => (
  <span className="block truncate font-mono text-xs text-muted" title={id}>
    {id}
  </span>
);

function Resend({ channel, post }: { channel: Channel; post: Post }) {
  const queries = useQueryClient();
  if (post.state !== 'failed' && post.state !== 'dead') return null;
  return (
    <ActionButton
      button={<Button small>Send again</Button>}
      title="Send the post again?"
      action="Send again"
      isMild
      run={() => channels.resend(channel, post.post_id)}
      curl={requests.resend(channel, post.post_id)}
      done="The post is sent again."
      onDone={() => queries.invalidateQueries({ queryKey: ['deployments', channel.deployment_id, 'posts'] })}
    >
      <p>The product refused the post or could not be reached. It gets the newest content.</p>
    </ActionButton>
  );
}
