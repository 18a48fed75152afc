import { useRef } from 'react';
import { flushSync } from 'react-dom';
import { DiffLines } from '../../../../parts/diff/diff-lines.tsx';
import { Button } from '../../../../ui/button.tsx';
import { CopyIcon } from '../../../../ui/copy.tsx';
import { beginningOf, type ShownSection, showAllText } from './input-sections.ts';
import type { DisplayedInput } from './use-tool-input.ts';

export interface ToolInputViewProps {
  input: DisplayedInput;
  /** Accessible name. */
  label: string;
  /** The whole input is shown. Otherwise only its beginning, without a copy button. */
  isWhole: boolean;
  onShowAll: () => void;
}

/** The input of a tool call. All text wraps, and the page scrolls, so that the whole input can be read. */
export function ToolInputView({ input, label, isWhole, onShowAll }: ToolInputViewProps) {
  const section = useRef<HTMLElement>(null);
  const { facts, sections, size, copyText } = input;
  const shown: readonly ShownSection[] = isWhole ? sections : beginningOf(sections);
  const showAll = () => {
    flushSync(onShowAll);
    // The button is gone. Reading begins at the top.
    section.current?.focus({ preventScroll: true });
    section.current?.scrollIntoView({ block: 'start' });
  };
  return (
    <div className="flex flex-col items-start gap-2">
      <section
        ref={section}
        tabIndex={-1}
        aria-label={label}
        className="relative flex w-full scroll-mt-4 flex-col gap-2 rounded-lg border border-line bg-sunken p-3 [&>:first-child]:pe-9"
      >
        {facts.length > 0 && (
          <dl className="flex flex-col gap-1">
            {facts.map(([name, text]) => (
              <div key={name} className="flex flex-wrap gap-x-2">
                <dt className="text-muted">{name}</dt>
                <dd className={TEXT} dir="ltr">
                  {text}
                </dd>
              </div>
            ))}
          </dl>
        )}
        {shown.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: sections are identified by their position
          <Section key={index} section={part} />
        ))}
        {shown.length === 0 && facts.length === 0 && <p className="text-muted">No input.</p>}
        {isWhole && (
          <div className="absolute end-px top-px rounded-lg bg-sunken p-1">
            <CopyIcon text={copyText} label={`Copy: ${label}`} />
          </div>
        )}
      </section>
      {!isWhole && (
        <Button small onClick={showAll}>
          {showAllText(size)}
          <span className="sr-only">: {label}</span>
        </Button>
      )}
    </div>
  );
}

const TEXT = 'min-w-0 font-mono text-[12.5px] leading-relaxed wrap-anywhere whitespace-pre-wrap';

function Section({ section: { label, kind, rows } }: { section: ShownSection }) {
  if (kind === 'diff')
    return rows.length === 0 ? <p className="text-muted">The file is empty.</p> : <DiffLines rows={rows} />;
  const text = rows.map((row) => (typeof row === 'number' ? '' : row.text)).join('\n');
  const value = (
    <pre className={TEXT} dir="ltr">
      {text === '' ? <span className="font-sans text-muted">Empty</span> : text}
    </pre>
  );
  if (label === undefined) return value;
  return (
    <dl>
      <dt className="font-mono text-[12.5px] text-muted wrap-anywhere">{label}</dt>
      <dd>{value}</dd>
    </dl>
  );
}
