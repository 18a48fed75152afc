import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Circle, CircleCheckBig, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { agents } from '../../api/agents.ts';
import type { Agent, Session } from '../../gen/index.ts';
import { useJournal } from '../../journal/use-journal.ts';
import { useIdempotencyKeys } from '../../parts/acts/idempotency-key.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { Problem } from '../../parts/faults/failure.tsx';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { useDismissed } from './dismissed.ts';

/** An agent that needs no key. */
const FIRST_AGENT = { name: 'Echo', model: 'rehearsal/echo' } as const;
const FIRST_MESSAGE = 'Hello! What can you do?';

export interface ChecklistProps {
  sessions: readonly Session[];
  /** One that can be talked to, if there is any. */
  agent: Agent | undefined;
}

/** From nothing to a session that has finished. Each step is done when the service says so, and not before. */
export function Checklist({ sessions, agent }: ChecklistProps) {
  const [isDismissed, dismiss] = useDismissed();
  const finished = sessions.find(({ stop_reason: reason }) => reason?.type === 'end_turn');
  const session = finished ?? sessions[0];
  if (isDismissed) return null;
  return (
    <Card className="p-4 sm:p-5">
      <div className="flex items-start justify-between gap-2">
        <h2 className="font-semibold">
          {finished ? 'You have seen a session finish' : 'From nothing to a finished session'}
        </h2>
        <IconButton label="Hide the checklist" icon={<X />} onClick={dismiss} />
      </div>
      <ol className="mt-2 flex flex-col gap-3">
        <Step isDone={agent !== undefined} isNext={!agent} title="Create an agent">
          <CreateAgent />
        </Step>
        <Step
          isDone={session !== undefined}
          isNext={agent !== undefined && !session}
          title="Say something to it"
        >
          {agent && <Talk agent={agent} />}
        </Step>
        <Step
          isDone={finished !== undefined}
          isNext={session !== undefined && !finished}
          title="See it finish"
        >
          {session && <Watch session={session} />}
        </Step>
      </ol>
      {finished && (
        <div className="mt-4 flex flex-wrap items-center gap-2">
          <ButtonLink small to="/sessions/$sessionId" params={{ sessionId: finished.session_id }}>
            Open that session
          </ButtonLink>
          <ButtonLink small to="/triggers/new" search={{ agent: agent?.agent_id }}>
            Let another system start it
          </ButtonLink>
        </div>
      )}
    </Card>
  );
}

interface StepProps {
  isDone: boolean;
  /** It is what to do now. */
  isNext: boolean;
  title: string;
  children: ReactNode;
}

function Step({ isDone, isNext, title, children }: StepProps) {
  const place = useRef<HTMLLIElement>(null);
  const wasNext = useRef(isNext);
  useEffect(() => {
    // Whoever has done the step before goes on here: what they pressed has gone with it.
    if (isNext && !wasNext.current && document.activeElement === document.body) place.current?.focus();
    wasNext.current = isNext;
  }, [isNext]);
  return (
    <li
      ref={place}
      tabIndex={-1}
      className="flex gap-3 outline-none"
      aria-current={isNext ? 'step' : undefined}
    >
      {isDone ? (
        <CircleCheckBig className="mt-0.5 size-4.5 shrink-0 text-good" aria-hidden />
      ) : (
        <Circle className="mt-0.5 size-4.5 shrink-0 text-muted" aria-hidden />
      )}
      <div className="min-w-0 flex-1">
        <p className={isDone || isNext ? 'font-medium' : 'text-muted'}>
          {title}
          <span className="sr-only">{isDone ? ' (done)' : ' (to do)'}</span>
        </p>
        {isNext && <div className="mt-2">{children}</div>}
      </div>
    </li>
  );
}

function CreateAgent() {
  const queries = useQueryClient();
  const { keyFor } = useIdempotencyKeys();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => agents.create(FIRST_AGENT, keyFor(FIRST_AGENT)),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['agents'] }),
  });
  return (
    <>
      <div className="flex flex-wrap gap-2">
        <Button small look="primary" busy={isPending} onClick={() => mutate()}>
          Create one that says what it hears
        </Button>
        <ButtonLink small to="/agents/new">
          Create one of your own
        </ButtonLink>
        <CopyCurl method="POST" path="/agents" body={FIRST_AGENT} about="the agent" />
      </div>
      <Problem error={error} />
    </>
  );
}

function Talk({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const [message, setMessage] = useState(FIRST_MESSAGE);
  const { keyFor } = useIdempotencyKeys();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => agents.converse(agent.agent_id, message, keyFor(message)),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sessions', 'list'] }),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isPending) mutate();
      }}
    >
      <div className="flex flex-wrap gap-2">
        <input
          aria-label={`Message to ${agent.name}`}
          dir="auto"
          required
          value={message}
          onChange={(event) => setMessage(event.target.value)}
          className="h-8 min-w-0 flex-1 basis-52 rounded-lg border border-line bg-surface px-3 hover:border-strong-line"
        />
        <Button type="submit" small look="primary" busy={isPending}>
          Send
        </Button>
        <CopyCurl
          method="POST"
          path={`/agents/${agent.agent_id}/conversations`}
          body={{ message }}
          about="the message"
        />
      </div>
      <Problem error={error} />
    </form>
  );
}

const ENDS: Record<string, string> = {
  'turn.queued': 'It waits for a runner.',
  'turn.started': 'A runner has it.',
  'agent.message': 'It has answered.',
  'turn.blocked': 'It waits for a decision of yours.',
  'turn.completed': 'It has finished.',
  'turn.failed': 'It has failed.',
};

/** The events of the session as they come, in words. */
function Watch({ session }: { session: Session }) {
  const { view } = useJournal(session.session_id);
  const newest = view?.events.findLast(({ type }) => type in ENDS);
  return (
    <p className="text-muted">
      <span role="status">{newest ? ENDS[newest.type] : 'It is on its way.'}</span>{' '}
      <TextLink to="/sessions/$sessionId" params={{ sessionId: session.session_id }}>
        Look at it
      </TextLink>
    </p>
  );
}
