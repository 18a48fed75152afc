import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { agents } from '../../api/agents.ts';
import type { Session } from '../../gen/index.ts';
import type { JournalView } from '../../journal/view.ts';
import { TextLink } from '../../parts/links.tsx';
import { SessionStatus } from '../../parts/sessions/status.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';
import { SessionActions } from './actions.tsx';

const LINKS: Record<JournalView['link'], { tone: Tone; text: string; live?: boolean; about: string }> = {
  opening: { tone: 'plain', text: 'Opening', about: 'The newest events are on their way.' },
  catching_up: { tone: 'accent', text: 'Catching up', about: 'What was missed is on its way.', live: true },
  live: { tone: 'good', text: 'Live', about: 'Everything shows here as it happens.' },
  reconnecting: {
    tone: 'warn',
    text: 'Reconnecting',
    about: 'The line is down. Nothing is lost: it goes on where it stopped.',
    live: true,
  },
  ended: { tone: 'plain', text: 'Ended', about: 'Nothing comes any more.' },
};

const ENVIRONMENTS: Record<string, { tone: Tone; text: string }> = {
  provisioning: { tone: 'accent', text: 'Sandbox starting' },
  ready: { tone: 'good', text: 'Sandbox ready' },
  suspended: { tone: 'plain', text: 'Sandbox suspended' },
  restoring: { tone: 'accent', text: 'Sandbox waking up' },
  lost: { tone: 'bad', text: 'Sandbox lost' },
  released: { tone: 'plain', text: 'Sandbox released' },
};

export interface SessionHeaderProps {
  session: Session;
  view: JournalView;
  isMine: boolean;
}

export function SessionHeader({ session, view, isMine }: SessionHeaderProps) {
  const title = session.title || 'Untitled';
  return (
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
          <SessionStatus session={session} />
          <Sandbox session={session} />
          <Maker session={session} />
        </div>
      </div>
      <div className="flex items-center gap-2">
        <Connection link={view.link} />
        <SessionActions session={session} isMine={isMine} />
      </div>
    </header>
  );
}

function Connection({ link }: { link: JournalView['link'] }) {
  const { about, text, ...look } = LINKS[link];
  // That a page opens is no news; that the line is down is, and what comes after it.
  const [wasDown, setWasDown] = useState(false);
  if (link === 'reconnecting' && !wasDown) setWasDown(true);
  return (
    <>
      <Tooltip text={about}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what it means is there for a keyboard, too */}
        <span tabIndex={0} aria-description={about} className="rounded-full">
          <span className="sr-only">Connection: </span>
          <Badge {...look}>{text}</Badge>
        </span>
      </Tooltip>
      <p role="status" className="sr-only">
        {wasDown && about}
      </p>
    </>
  );
}

function Sandbox({ session: { environment_status: status, sandbox } }: { session: Session }) {
  const state = ENVIRONMENTS[status];
  if (!state) return null;
  return (
    <Badge tone={state.tone}>
      {state.text}
      {sandbox ? ` (${sandbox.provider})` : ''}
    </Badge>
  );
}

/** Who works in it. */
function Maker({ session }: { session: Session }) {
  const { agent_id: agentId, assistant_id: assistantId, agent_version: version } = session;
  const { data } = useQuery({ ...agents.one(agentId ?? ''), enabled: agentId !== null, retry: false });
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
