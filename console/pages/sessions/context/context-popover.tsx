import { Meter } from '@base-ui/react/meter';
import type { SessionContext } from '../../../gen/index.ts';
import { compactionTokensText } from '../../../journal/compaction-text.ts';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { TextLink } from '../../../parts/navigation/links.tsx';
import { classes } from '../../../ui/classes.ts';
import { Popover, type PopoverProps } from '../../../ui/popover.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Time } from '../../../ui/time.tsx';
import { usedPercent } from './context-figures.ts';
import { SOURCES, thresholdText, tokens, usedText } from './context-texts.ts';

const PARTS: readonly { name: keyof SessionContext['parts']; text: string; color: string }[] = [
  { name: 'system', text: 'System prompt', color: 'bg-muted' },
  { name: 'tools', text: 'Tools', color: 'bg-warn' },
  { name: 'history', text: 'Messages and results', color: 'bg-accent' },
  { name: 'files', text: 'Images and files', color: 'bg-good' },
];

interface ContextDetailsProps {
  sessionId: string;
  context: SessionContext | undefined;
  error: Error | null;
}

export type ContextPopoverProps = ContextDetailsProps & Pick<PopoverProps, 'anchor' | 'open' | 'onClose'>;

/** The parts of what the model gets in the next turn, beside the meter. */
export function ContextPopover({ anchor, open, onClose, ...details }: ContextPopoverProps) {
  return (
    <Popover title="Context" anchor={anchor} open={open} onClose={onClose}>
      <ContextDetails {...details} />
    </Popover>
  );
}

function ContextDetails({ sessionId, context, error }: ContextDetailsProps) {
  if (!context) return error ? <ErrorAlert error={error} /> : <Skeleton lines={4} />;
  const { model, window, window_source: source, last_compaction: last } = context;
  return (
    <div className="mt-1 flex flex-col gap-3 text-[13px]">
      <p>
        {usedText(context)} <span className="text-muted">{thresholdText(context)}</span>
      </p>
      {window !== null && context.estimated_tokens !== null && (
        <PartsMeter context={context} window={window} />
      )}
      <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1">
        {PARTS.map(({ name, text, color }) => (
          <div key={name} className="contents">
            <dt className="flex items-center gap-2 text-muted">
              <span aria-hidden className={classes('size-2 rounded-full', color)} />
              {text}
            </dt>
            <dd className="text-end tabular-nums">{partText(context.parts[name])}</dd>
          </div>
        ))}
      </dl>
      <p className="text-muted wrap-anywhere">
        Model <code className="font-mono text-xs">{model}</code>. {source !== null && SOURCES[source]}
      </p>
      {last && (
        <p className="text-muted">
          <TextLink to="/sessions/$sessionId" params={{ sessionId }} search={{ event: last.seq }}>
            Last shortened
          </TextLink>{' '}
          <Time at={last.created_at} />, {compactionTokensText(last)}.
        </p>
      )}
    </div>
  );
}

const partText = (count: number | null) => (count === null ? 'unknown' : tokens(count));

function PartsMeter({ context, window }: { context: SessionContext; window: number }) {
  const { parts, threshold_tokens: threshold } = context;
  const share = (count: number) => `${Math.min(100, (100 * count) / window)}%`;
  return (
    <Meter.Root
      aria-label="Used part of the context window"
      value={Math.min(100, usedPercent(context) ?? 0)}
      aria-valuetext={usedText(context)}
      className="relative flex h-2.5 overflow-hidden rounded-full bg-line"
    >
      {PARTS.map(({ name, color }) => (
        <span key={name} className={color} style={{ width: share(parts[name] ?? 0) }} />
      ))}
      {threshold !== null && (
        <span className="absolute inset-y-0 w-0.5 bg-ink" style={{ insetInlineStart: share(threshold) }} />
      )}
    </Meter.Root>
  );
}
