import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Circle, CircleCheckBig, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { agents } from '../../api/agents.ts';
import type { Agent, Session } from '../../gen/index.ts';
import { useJournal } from '../../journal/use-journal.ts';
import { useIdempotencyKeys } from '../../parts/actions/idempotency-key.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { DEMO_AGENT } from './demo-agent.ts';
import { useDismissed } from './dismissed.ts';

const FIRST_MESSAGE = 'Hello! What can you do?';

export interface ChecklistProps {
  sessions: readonly Session[];
  /** The agent for the first message; undefined when none exists. */
  agent: Agent | undefined;
}

/** Getting-started checklist. Each step is done when the service reports its result. */
export function Checklist({ sessions, agent }: ChecklistProps) {
  const [isDismissed, dismiss] = useDismissed();
  const finished = sessions.find(({ state }) => state === 'completed');
  const session = finished ?? sessions[0];
  if (isDismissed) return null;
  return (
    <Card className="p-4 sm:p-5">
      <div className="flex items-start justify-between gap-2">
        <h2 className="font-semibold">
          {finished ? 'Your first session has finished' : 'Get started: run your first session'}
        </h2>
        <IconButton label="Hide checklist" icon={<X />} onClick={dismiss} />
      </div>
      <ol className="mt-2 flex flex-col gap-3">
        <ChecklistStep isDone={agent !== undefined} isNext={!agent} title="Create an agent">
          <CreateAgent />
        </ChecklistStep>
        <ChecklistStep
          isDone={session !== undefined}
          isNext={agent !== undefined && !session}
          title="Send it a message"
        >
          {agent && <SendMessage agent={agent} />}
        </ChecklistStep>
        <ChecklistStep
          isDone={finished !== undefined}
          isNext={session !== undefined && !finished}
          title="Watch it finish"
        >
          {session && <SessionProgress session={session} />}
        </ChecklistStep>
      </ol>
      {finished && (
        <div className="mt-4 flex flex-wrap items-center gap-2">
          <ButtonLink small to="/sessions/$sessionId" params={{ sessionId: finished.session_id }}>
            Open the finished session
          </ButtonLink>
          <ButtonLink small to="/deployments/new" search={{ agent: agent?.agent_id }}>
            Start it from another system
          </ButtonLink>
        </div>
      )}
    </Card>
  );
}

interface ChecklistStepProps {
  isDone: boolean;
  /** The step is the next one to do. */
  isNext: boolean;
  title: string;
  children: ReactNode;
}

function ChecklistStep({ isDone, isNext, title, children }: ChecklistStepProps) {
  const item = useRef<HTMLLIElement>(null);
  const wasNext = useRef(isNext);
  useEffect(() => {
    // The button of the previous step is gone, so the focus moves to this step.
    if (isNext && !wasNext.current && document.activeElement === document.body) item.current?.focus();
    wasNext.current = isNext;
  }, [isNext]);
  return (
    <li
      ref={item}
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
    mutationFn: () => agents.create(DEMO_AGENT, keyFor(DEMO_AGENT)),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['agents'] }),
  });
  return (
    <>
      <div className="flex flex-wrap gap-2">
        <Button small look="primary" busy={isPending} onClick={() => mutate()}>
          Create the demo agent
        </Button>
        <ButtonLink small to="/agents/new">
          Create a custom agent
        </ButtonLink>
        <CopyCurl method="POST" path="/agents" body={DEMO_AGENT} about="the agent" />
      </div>
      <ErrorAlert error={error} />
    </>
  );
}

/** Sends the first message and opens its session, which shows the answer while it is written. */
function SendMessage({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [message, setMessage] = useState(FIRST_MESSAGE);
  const { keyFor } = useIdempotencyKeys();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => agents.startConversation(agent.agent_id, message, keyFor(message)),
    onSuccess: ({ session_id: sessionId }) => {
      void queries.invalidateQueries({ queryKey: ['sessions', 'list'] });
      return navigate({ to: '/sessions/$sessionId', params: { sessionId } });
    },
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
      <ErrorAlert error={error} />
    </form>
  );
}

const PROGRESS_TEXTS: Record<string, string> = {
  'turn.queued': 'Waiting for a runner.',
  'turn.started': 'Running.',
  'agent.message': 'The agent has replied.',
  'turn.blocked': 'Waiting for your approval.',
  'turn.completed': 'The turn has completed.',
  'turn.failed': 'The turn has failed.',
};

/** Progress of the session, updated with its events. */
function SessionProgress({ session }: { session: Session }) {
  const queries = useQueryClient();
  const { view } = useJournal(session.session_id);
  const newest = view?.events.findLast(({ type }) => type in PROGRESS_TEXTS);
  const isCompleted = newest?.type === 'turn.completed';
  useEffect(() => {
    if (isCompleted) void queries.invalidateQueries({ queryKey: ['sessions', 'list'] });
  }, [queries, isCompleted]);
  return (
    <p className="text-muted">
      <span role="status">{newest ? PROGRESS_TEXTS[newest.type] : 'Starting…'}</span>{' '}
      <TextLink to="/sessions/$sessionId" params={{ sessionId: session.session_id }}>
        Open session
      </TextLink>
    </p>
  );
}
