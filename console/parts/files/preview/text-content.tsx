import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { formatBytes } from '../../../ui/bytes.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { ErrorState } from '../../errors/error-state.tsx';
import { useQueryFailure } from '../../errors/use-query-failure.ts';
import { VisibleText } from '../../text/visible-text.tsx';
import { NoPreview } from './no-preview.tsx';
import type { FileText, TextExcerpt } from './read-text.ts';

const LINE_PX = 20;

export interface TextContentProps<Key extends QueryKey> {
  options: UseQueryOptions<FileText, Error, FileText, Key>;
  name: string;
  /** Size of the file in bytes. */
  size: number;
  /** Shows invisible characters as marks, for a text that an administrator reviews. */
  marksInvisible?: boolean;
}

/** The beginning of a text file with line numbers. */
export function TextContent<Key extends QueryKey>(props: TextContentProps<Key>) {
  const { options, name, size, marksInvisible = false } = props;
  const text = useQuery(options);
  const failure = useQueryFailure(text);
  if (failure) return <ErrorState {...failure} />;
  if (text.data === undefined) return <Skeleton lines={8} label="Loading preview" />;
  if (text.data === 'not text') return <NoPreview>This file type has no preview.</NoPreview>;
  const { truncatedAt: cut, hasLongLines } = text.data;
  return (
    <>
      {(cut || hasLongLines) && (
        <p role="note" className="border-b border-line bg-warn-soft px-4 py-1.5 text-[13px] text-warn">
          {cut &&
            `The preview ends after ${'lines' in cut ? `${cut.lines.toLocaleString('en')} lines` : `${formatBytes(cut.bytes)} of ${formatBytes(size)}`}. `}
          {hasLongLines && 'Very long lines are truncated. '}
          Download the file to see its full content.
        </p>
      )}
      <Lines
        key={options.queryKey.join()}
        text={text.data}
        label={`Content of ${name}`}
        marksInvisible={marksInvisible}
      />
    </>
  );
}

interface LinesProps {
  text: TextExcerpt;
  label: string;
  marksInvisible: boolean;
}

function Lines({ text: { lines }, label, marksInvisible }: LinesProps) {
  const scrollBox = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scrollBox.current,
    estimateSize: () => LINE_PX,
    overscan: 40,
  });
  const items = virtual.getVirtualItems();
  const width = `${String(lines.length).length + 1}ch`;
  return (
    <section
      ref={scrollBox}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
      tabIndex={0}
      aria-label={label}
      className="max-h-[45dvh] overflow-auto rounded-b-xl lg:max-h-[60dvh] font-mono text-[12.5px] leading-5 -outline-offset-2"
    >
      <div className="w-max min-w-full py-2" style={{ height: virtual.getTotalSize() + 2 * 8 }}>
        <div style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {items.map(({ index }) => (
            <div key={index} className="flex h-5">
              <span
                aria-hidden
                className="sticky start-0 box-content shrink-0 bg-surface ps-3 pe-4 text-end text-muted select-none"
                style={{ width }}
              >
                {index + 1}
              </span>
              <span dir="auto" className="flex-1 pe-4 text-start whitespace-pre">
                {marksInvisible ? <VisibleText text={lines[index] ?? ''} /> : lines[index]}
              </span>
            </div>
          ))}
        </div>
      </div>
    </section>
  );
}
