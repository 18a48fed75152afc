import { lazy, Suspense, useState } from 'react';
import type { Session } from '../../../gen/index.ts';
import type { ToolCall } from '../../../journal/chat.ts';
import { loadChunk } from '../../../parts/navigation/load-chunk.ts';
import { durationText } from '../../../parts/text/duration.ts';
import { jsonText } from '../../../parts/text/json.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { classes } from '../../../ui/classes.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { EventMenu } from '../event-menu.tsx';
import { Approval } from './approval.tsx';
import { visibleText } from './tool-input/input-sections.ts';
import { ToolInputView } from './tool-input/tool-input-view.tsx';
import { useToolInput } from './tool-input/use-tool-input.ts';
import { ToolOutput } from './tool-output/tool-output.tsx';

// Few sessions have calls that wait for an answer.
const ToolAnswer = lazy(async () => ({
  default: (await loadChunk(() => import('./question/tool-answer.tsx'))).ToolAnswer,
}));

export interface ToolCallCardProps {
  call: ToolCall;
  session: Session;
  mayWrite: boolean;
  onRaw: (event: number) => void;
}

interface CallStatus {
  tone: Tone;
  text: string;
  live?: boolean;
  /** The card is open unless the user closes it. */
  isOpen?: boolean;
}

const STATUSES: Record<ToolCall['state'], CallStatus> = {
  awaiting_approval: { tone: 'warn', text: 'Waiting for approval', isOpen: true },
  awaiting_answer: { tone: 'warn', text: 'Waiting for an answer', isOpen: true },
  waiting: { tone: 'plain', text: 'Waiting' },
  running: { tone: 'accent', text: 'Running', live: true, isOpen: true },
  done: { tone: 'good', text: 'Done' },
  failed: { tone: 'bad', text: 'Failed', isOpen: true },
};

const WAITING: Record<string, string> = {
  authorization: 'Waiting for a connection',
  input: 'Waiting for an answer',
};

function statusOf({ state, exitCode, approval }: ToolCall): CallStatus {
  if (approval?.decision === 'deny')
    return { tone: 'bad', text: approval.kind === 'authorization' ? 'No access' : 'Denied' };
  if (state === 'awaiting_approval' && approval)
    return { ...STATUSES[state], text: WAITING[approval.kind] ?? STATUSES[state].text };
  if (state === 'done' && exitCode !== undefined && exitCode !== 0)
    return { tone: 'warn', text: `Exit code ${exitCode}`, isOpen: true };
  return STATUSES[state];
}

/** A tool call with its input, output, state and approval. */
export function ToolCallCard({ call, session, mayWrite, onRaw }: ToolCallCardProps) {
  const { text, tone, live = false, isOpen = false } = statusOf(call);
  const [chosen, setChosen] = useState<boolean>();
  const isShown = chosen ?? isOpen;
  return (
    <article
      aria-label={`Call of ${call.name}`}
      className={classes(
        'rounded-xl border bg-surface',
        call.state === 'awaiting_approval' || call.state === 'awaiting_answer'
          ? 'border-warn'
          : 'border-line',
      )}
    >
      <div className="flex items-center gap-2 py-1.5 ps-3 pe-1.5">
        <button
          type="button"
          aria-expanded={isShown}
          onClick={() => setChosen(!isShown)}
          className="flex min-w-0 flex-1 items-center gap-2 rounded text-start"
        >
          <span className="shrink-0 font-mono text-[13px] font-medium">{call.name}</span>
          <span className="min-w-0 truncate font-mono text-xs text-muted">
            {visibleText(summaryOf(call.input))}
          </span>
        </button>
        {call.durationMs !== undefined && (
          <span className="hidden text-xs text-muted tabular-nums xs:inline">
            {durationText(call.durationMs)}
          </span>
        )}
        <Badge tone={tone} live={live}>
          {text}
        </Badge>
        <EventMenu session={session} seq={call.seq} mayFork={mayWrite} onRaw={onRaw} />
      </div>
      {isShown && <CallDetails call={call} session={session} mayWrite={mayWrite} />}
    </article>
  );
}

function CallDetails({ call, session, mayWrite }: Omit<ToolCallCardProps, 'onRaw'>) {
  const input = useToolInput(session.session_id, call, call.input);
  const [hasShownAll, setShownAll] = useState(false);
  const isWhole = hasShownAll || !input.isLong;
  return (
    <div className="flex flex-col gap-2 border-t border-line p-3">
      {/* The form shows the question. */}
      {!(call.answerKind === 'input' && call.state === 'awaiting_answer') && (
        <ToolInputView
          input={input}
          label={`Input of ${call.name}`}
          isWhole={isWhole}
          onShowAll={() => setShownAll(true)}
        />
      )}
      {call.editedInput !== undefined && <EditedInput call={call} session={session} />}
      {call.approval && (
        <Approval
          call={call}
          approval={call.approval}
          session={session}
          mayWrite={mayWrite}
          isInputShown={isWhole}
        />
      )}
      {call.state === 'awaiting_answer' && (
        <Suspense fallback={<Skeleton lines={2} />}>
          <ToolAnswer call={call} session={session} mayWrite={mayWrite} />
        </Suspense>
      )}
      {call.mcpServer && <p className="text-[13px] text-muted">Text of the MCP server {call.mcpServer}:</p>}
      <ToolOutput call={call} sessionId={session.session_id} />
    </div>
  );
}

function EditedInput({ call, session }: Pick<ToolCallCardProps, 'call' | 'session'>) {
  const input = useToolInput(session.session_id, call, call.editedInput);
  const [hasShownAll, setShownAll] = useState(false);
  return (
    <div className="flex flex-col gap-1">
      <p className="text-[13px] text-muted">The call ran with this edited input:</p>
      <ToolInputView
        input={input}
        label="Edited input"
        isWhole={hasShownAll || !input.isLong}
        onShowAll={() => setShownAll(true)}
      />
    </div>
  );
}

/** Returns the first string value of the input as one line, to distinguish calls of the same tool. */
function summaryOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return jsonText(input);
  const values = Object.values(input);
  const first = values.find((value) => typeof value === 'string') ?? values[0];
  return (typeof first === 'string' ? first : jsonText(first ?? {})).replace(/\s+/g, ' ').slice(0, 200);
}
