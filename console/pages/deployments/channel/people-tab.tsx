import { useQueryClient } from '@tanstack/react-query';
import { Unlink, UserRoundCheck } from 'lucide-react';
import { useMemo } from 'react';
import { channels } from '../../../api/channels.ts';
import type { Channel, ChannelLink } from '../../../gen/index.ts';
import { ActionButton } from '../../../parts/actions/action-button.tsx';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { useList } from '../../../parts/resources/list.tsx';
import { Listing } from '../../../parts/resources/listing.tsx';
import type { Column } from '../../../parts/resources/long-list.tsx';
import { Button } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Time } from '../../../ui/time.tsx';
import { requests } from '../requests.ts';

const HOW: Record<ChannelLink['how'], string> = {
  confirmed: 'Confirmed',
  email: 'Verified e-mail',
  administrator: 'Administrator',
};

const columnsOf = (channel: Channel): readonly Column<ChannelLink>[] => [
  { name: 'Account', cell: (link) => <Account link={link} /> },
  { name: 'User', className: 'w-64', cell: ({ user_id: id }) => <UserId id={id} /> },
  { name: 'By', className: 'w-36', cell: ({ how }) => HOW[how] },
  { name: 'Linked', className: 'w-32', cell: ({ created_at: at }) => <Time at={at} /> },
  {
    name: 'Actions',
    hideName: true,
    className: 'w-28 text-end',
    cell: (link) => <EndLink channel={channel} link={link} />,
  },
];

/** The linked people who have written to the channel. */
export function PeopleTab({ channel }: { channel: Channel }) {
  const list = useList(channels.links(channel));
  const columns = useMemo(() => columnsOf(channel), [channel]);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <p className="max-w-prose text-[13px] text-muted">
          A person without a link gets one from the bot with the first message, or with the command /link. It
          is valid for 10 minutes and needs a login here.
        </p>
        <CopyCurl {...requests.links(channel)} about="links" />
      </div>
      <Listing
        noun="links"
        list={list}
        keyOf={({ link_id: id }) => id}
        columns={columns}
        card={(link) => (
          <div className="flex items-start gap-2">
            <div className="flex min-w-0 flex-1 flex-col gap-1">
              <Account link={link} />
              <UserId id={link.user_id} />
            </div>
            <EndLink channel={channel} link={link} />
          </div>
        )}
        curl={requests.links(channel)}
        empty={<EmptyState icon={<UserRoundCheck />}>No linked people yet.</EmptyState>}
      />
    </div>
  );
}

function Account({ link: { external_name: name, external_id: id } }: { link: ChannelLink }) {
  return (
    <span className="block min-w-0">
      <span className="block truncate" dir="auto">
        {name}
      </span>
      <span className="block truncate font-mono text-xs text-muted">{id}</span>
    </span>
  );
}

const UserId = ({ id }: { id: string }) => <code className="font-mono text-xs wrap-anywhere">{id}</code>;

function EndLink({ channel, link }: { channel: Channel; link: ChannelLink }) {
  const queries = useQueryClient();
  return (
    <ActionButton
      button={
        <Button small>
          <Unlink aria-hidden />
          Unlink
          <span className="sr-only"> {link.external_name}</span>
        </Button>
      }
      title={`Unlink ${link.external_name}?`}
      action="Unlink"
      run={() => channels.endLink(channel, link.link_id)}
      curl={requests.endLink(channel, link.link_id)}
      done={`${link.external_name} is no longer linked.`}
      onDone={() => queries.invalidateQueries({ queryKey: ['deployments', channel.deployment_id, 'links'] })}
    >
      <p>
        Messages of this account no longer count as those of the user, in every channel of the same product
        and workspace.
      </p>
    </ActionButton>
  );
}
