import { type ReactNode, useState } from 'react';
import type { CompactionData } from '../../../../journal/compaction-text.ts';
import { countedTokensText, countText } from '../../../../journal/usage-text.ts';
import { TextLink } from '../../../../parts/navigation/links.tsx';
import { MarkdownView } from '../../../../parts/text/markdown.tsx';
import { Button } from '../../../../ui/button.tsx';
import { formatBytes } from '../../../../ui/bytes.ts';
import { FileLink } from '../file-items.tsx';
import type { CompactionProps } from './compaction-props.ts';

const STRATEGIES: Record<CompactionData['strategy'], string> = {
  summarize: 'Summary',
  drop_turns: 'Leave out the oldest messages',
  drop_tool_results: 'Move large outputs to files',
};

/** What a compaction has changed: the summary, the moved outputs and the cost. */
export function CompactionDetails({ compaction: { data }, sessionId, onRaw }: CompactionProps) {
  const { strategy, summary, moved = [], model, usage } = data;
  return (
    <div className="flex flex-col gap-4 rounded-xl border border-line bg-surface p-4">
      <p className="text-[13px] text-muted">
        Only what the model gets has changed. The session keeps all messages and outputs.
      </p>
      <dl className="grid gap-x-6 gap-y-2 text-[13px] sm:grid-cols-[auto_minmax(0,1fr)]">
        <Fact name="Strategy">{STRATEGIES[strategy]}</Fact>
        <Fact name="Range">{rangeText(data)}</Fact>
        {model && (
          <Fact name="Model">
            <code className="font-mono text-xs">{model}</code>
          </Fact>
        )}
        {usage && <Fact name="Used for the summary">{countedTokensText(usage)}</Fact>}
      </dl>
      {summary && (
        <section aria-label={strategy === 'summarize' ? 'Summary' : 'Earlier summary'}>
          <h3 className="mb-1 text-[13px] font-medium">
            {strategy === 'summarize' ? 'Summary' : 'Earlier summary, which the model still gets'}
          </h3>
          <MarkdownView text={summary} />
        </section>
      )}
      {moved.length > 0 && <MovedOutputs moved={moved} sessionId={sessionId} />}
      <div>
        <Button small onClick={onRaw}>
          Show event
        </Button>
      </div>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="sm:contents">
      <dt className="text-muted">{name}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </div>
  );
}

/** A compaction that only moves outputs has the range of these outputs, and leaves no message out. */
function rangeText({ strategy, from_seq: from, to_seq: to, kept }: CompactionData): string {
  const range = from === to ? `Event ${from}` : `Events ${from} to ${to}`;
  if (strategy === 'drop_tool_results' || kept.length === 0) return range;
  return `${range}, of which the model still gets ${kept.length.toLocaleString('en')}`;
}

const SHOWN_OUTPUTS = 8;

function MovedOutputs({
  moved,
  sessionId,
}: {
  moved: NonNullable<CompactionData['moved']>;
  sessionId: string;
}) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? moved : moved.slice(0, SHOWN_OUTPUTS);
  return (
    <section aria-label="Moved outputs">
      <h3 className="mb-1 text-[13px] font-medium">Outputs of tools that the model no longer gets</h3>
      <ul className="flex flex-col gap-1 text-[13px]">
        {shown.map((output) => (
          <li key={output.seq}>
            <MovedOutput output={output} sessionId={sessionId} />
          </li>
        ))}
      </ul>
      {shown.length < moved.length && (
        <Button small look="quiet" className="mt-1" onClick={() => setShowsAll(true)}>
          Show all {moved.length.toLocaleString('en')} outputs
        </Button>
      )}
    </section>
  );
}

function MovedOutput({
  output: { seq, path, bytes, shown },
  sessionId,
}: {
  output: NonNullable<CompactionData['moved']>[number];
  sessionId: string;
}) {
  return (
    <span className="flex flex-wrap items-baseline gap-x-2 text-muted">
      <TextLink
        to="/sessions/$sessionId"
        params={{ sessionId }}
        search={{ event: seq }}
        className="font-normal whitespace-nowrap"
      >
        Event {seq}
      </TextLink>
      <span className="whitespace-nowrap">{formatBytes(bytes)}</span>
      {path === undefined ? (
        <span>not in a file, because the workspace could not take it</span>
      ) : (
        <span className="flex max-w-full min-w-0 gap-1">
          in <FileLink sessionId={sessionId} path={path} />
        </span>
      )}
      {shown > 0 && <span>The model still gets the first {countText(shown, 'character')}.</span>}
    </span>
  );
}
