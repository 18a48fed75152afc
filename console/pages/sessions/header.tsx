import { useQuery } from '@tanstack/react-query';
import { OctagonX } from 'lucide-react';
import { useState } from 'react';
import { agents } from '../../api/agents.ts';
import { isStoppable } from '../../api/session-state.ts';
import type { Session } from '../../gen/index.ts';
import { countedTokensText } from '../../journal/usage-text.ts';
import type { JournalView } from '../../journal/view.ts';
import { TextLink } from '../../parts/navigation/links.tsx';
import { SessionSource } from '../../parts/sessions/source.tsx';
import { SessionStateBadge } from '../../parts/sessions/state-badge.tsx';
import { useStop } from '../../parts/sessions/use-stop.ts';
import { UserName } from '../../parts/users/user-name.tsx';
import { useViewer } from '../../parts/users/viewer.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';
import { SessionActions } from './actions.tsx';
import { ContextMeter } from './context/context-meter.tsx';
import { OwnerBanner } from './owner-banner.tsx';

const STREAM_STATUSES: Record<
  JournalView['streamStatus'],
  { tone: Tone; text: string; live?: boolean; about: string }
> = {
  opening: { tone: 'plain', text: 'Opening', about: 'Loading the newest events.' },
  catching_up: { tone: 'accent', text: 'Catching up', about: 'Loading missed events.', live: true },
  live: { tone: 'good', text: 'Live', about: 'Events appear as they happen.' },
  reconnecting: {
    tone: 'warn',
    text: 'Reconnecting',
    about: 'Connection lost. No events are lost: the stream resumes where it stopped.',
    live: true,
  },
  ended: { tone: 'plain', text: 'Ended', about: 'The event stream has ended.' },
};

const ENVIRONMENTS: Record<string, { tone: Tone; text: string }> = {
  provisioning: { tone: 'accent', text: 'Sandbox starting' },
  ready: { tone: 'good', text: 'Sandbox ready' },
  suspended: { tone: 'plain', text: 'Sandbox suspended' },
  restoring: { tone: 'accent', text: 'Sandbox restoring' },
  lost: { tone: 'bad', text: 'Sandbox lost' },
  released: { tone: 'plain', text: 'Sandbox released' },
};

export interface SessionHeaderProps {
  session: Session;
  view: JournalView;
  /** The session is deleted, or the viewer has lost access to it. */
  isDeleted: boolean;
}

export function SessionHeader({ session, view, isDeleted }: SessionHeaderProps) {
  const { user } = useViewer();
  const isMine = session.created_by === user?.user_id;
  const title = session.title || 'Untitled';
  return (
    <>
      <header className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 pt-4 pb-2 sm:px-8">
        <title>{`${title} · Agent Hosting Service`}</title>
        <div className="min-w-0 flex-1 basis-44">
          <h1
            tabIndex={-1}
            dir="auto"
            title={title}
            className="truncate text-lg font-semibold tracking-tight outline-none"
          >
            {title}
          </h1>
          <div className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-[13px] text-muted">
            <SessionStateBadge session={session} />
            {session.queue_held && <Badge tone="warn">Queue on hold</Badge>}
            <SandboxBadge session={session} />
            <SessionAgent session={session} />
            {session.source !== null && session.source !== 'conversation' && (
              <span className="max-w-full min-w-0 truncate">
                Source: <SessionSource session={session} />
              </span>
            )}
            <SessionTokens session={session} />
            {!isDeleted && <ContextMeter session={session} view={view} isMine={isMine} />}
            {!isMine && (
              <span className="max-w-full min-w-0">
                Owner: <UserName id={session.created_by} />
              </span>
            )}
          </div>
        </div>
        <div className="flex items-center gap-2">
          <StreamStatusBadge link={view.streamStatus} />
          {!isMine && !isDeleted && <StopButton session={session} />}
          <SessionActions session={session} isMine={isMine} isDeleted={isDeleted} />
        </div>
      </header>
      <OwnerBanner session={session} />
    </>
  );
}

/** Stops the session of another user. Its owner has the button in the message input. */
function StopButton({ session }: { session: Session }) {
  const { stop, isStopping } = useStop();
  if (!isStoppable(session)) return null;
  return (
    <Button small busy={isStopping} onClick={() => stop(session.session_id)}>
      <OctagonX aria-hidden />
      Stop
    </Button>
  );
}

function StreamStatusBadge({ link }: { link: JournalView['streamStatus'] }) {
  const { about, text, ...look } = STREAM_STATUSES[link];
  // Only a lost connection and later changes are announced, not the opening of the page.
  const [wasDisconnected, setWasDisconnected] = useState(false);
  if (link === 'reconnecting' && !wasDisconnected) setWasDisconnected(true);
  return (
    <>
      <Tooltip text={about}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the description must be reachable by keyboard */}
        <span tabIndex={0} aria-description={about} className="rounded-full">
          <span className="sr-only">Connection: </span>
          <Badge {...look}>{text}</Badge>
        </span>
      </Tooltip>
      <p role="status" className="sr-only">
        {wasDisconnected && about}
      </p>
    </>
  );
}

function SandboxBadge({ session: { environment_status: status, sandbox } }: { session: Session }) {
  const state = ENVIRONMENTS[status];
  if (!state) return null;
  return (
    <Badge tone={state.tone}>
      {state.text}
      {sandbox ? ` (${sandbox.provider})` : ''}
    </Badge>
  );
}

/** The tokens of all turns. Nothing before the first model request has ended. */
function SessionTokens({ session: { usage } }: { session: Session }) {
  if (usage.input_tokens + usage.output_tokens === 0) return null;
  return <span>{countedTokensText(usage)}</span>;
}

/** Link to the agent or assistant of the session. */
function SessionAgent({ session }: { session: Session }) {
  const { agent_id: agentId, assistant_id: assistantId, agent_version: version } = session;
  const { data } = useQuery({ ...agents.detail(agentId ?? ''), enabled: agentId !== null, retry: false });
  if (assistantId)
    return (
      <TextLink to="/assistants/$assistantId" params={{ assistantId }}>
        Assistant
      </TextLink>
    );
  if (!agentId) return null;
  return (
    <span className="flex min-w-0 items-center gap-1">
      <TextLink
        to="/agents/$agentId"
        params={{ agentId }}
        dir="auto"
        className="max-w-64 truncate"
        title={data?.name ?? agentId}
      >
        {data?.name ?? 'Agent'}
      </TextLink>
      {version !== null && <span className="whitespace-nowrap">version {version}</span>}
    </span>
  );
}
