import { CircleCheck, CircleX, Hand, Hourglass, LoaderCircle, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import type { Session } from '../../../gen/index.ts';
import type { Call } from '../../../journal/chat.ts';
import { durationText } from '../../../parts/text/duration.ts';
import { jsonText, outputText } from '../../../parts/text/json.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { classes } from '../../../ui/classes.ts';
import { Code } from '../../../ui/code.tsx';
import { EventMenu } from '../event-menu.tsx';
import { Approval } from './approval.tsx';

export interface CallCardProps {
  call: Call;
  session: Session;
  mayWrite: boolean;
  onRaw: (event: number) => void;
}

const STATES: Record<Call['state'], { tone: Tone; text: string; icon: LucideIcon; live?: boolean }> = {
  asked: { tone: 'warn', text: 'Waiting for a decision', icon: Hand },
  waiting: { tone: 'plain', text: 'Waiting', icon: Hourglass },
  running: { tone: 'accent', text: 'Running', icon: LoaderCircle, live: true },
  done: { tone: 'good', text: 'Done', icon: CircleCheck },
  failed: { tone: 'bad', text: 'Failed', icon: CircleX },
};

/** What a tool was called with, what it says, and what has become of it. */
export function CallCard({ call, session, mayWrite, onRaw }: CallCardProps) {
  const isOpen = call.state === 'asked' || call.state === 'running';
  const [chosen, setChosen] = useState<boolean>();
  const isShown = chosen ?? isOpen;
  const { text, tone, live } = STATES[call.state];
  const said = call.output === undefined ? call.progress : outputText(call.output);
  return (
    <article
      aria-label={`Call of ${call.name}`}
      className={classes(
        'rounded-xl border bg-surface',
        call.state === 'asked' ? 'border-warn' : 'border-line',
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
          <span className="min-w-0 truncate font-mono text-xs text-muted">{summaryOf(call.input)}</span>
        </button>
        {call.durationMs !== undefined && (
          <span className="hidden text-xs text-muted tabular-nums xs:inline">
            {durationText(call.durationMs)}
          </span>
        )}
        <Badge tone={tone} live={live ?? false}>
          {call.approval?.decision === 'deny' ? 'Denied' : text}
        </Badge>
        <EventMenu session={session} seq={call.seq} mayFork={mayWrite} onRaw={onRaw} />
      </div>
      {isShown && (
        <div className="flex flex-col gap-2 border-t border-line p-3">
          <Code text={jsonText(call.input)} label={`Input of ${call.name}`} />
          {call.editedInput !== undefined && (
            <Code text={jsonText(call.editedInput)} label="What was run instead" />
          )}
          {call.approval && (
            <Approval call={call} approval={call.approval} session={session} mayWrite={mayWrite} />
          )}
          {said !== '' && <Code text={said} label={`Output of ${call.name}`} />}
          {said === '' && call.state === 'done' && <p className="text-[13px] text-muted">It said nothing.</p>}
        </div>
      )}
    </article>
  );
}

/** The one thing that tells calls of a tool apart, on a line. */
function summaryOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return jsonText(input);
  const values = Object.values(input);
  const first = values.find((value) => typeof value === 'string') ?? values[0];
  return (typeof first === 'string' ? first : jsonText(first ?? {})).replace(/\s+/g, ' ').slice(0, 200);
}
