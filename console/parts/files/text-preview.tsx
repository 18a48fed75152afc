import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { files, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { shownBytes } from '../../ui/bytes.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Failure } from '../faults/failure.tsx';
import { useFailure } from '../faults/use-failure.ts';
import { NoPreview } from './no-preview.tsx';
import { readText, type TextBeginning } from './text.ts';

const LINE_PX = 20;

/** The beginning of a text, with the numbers of its lines. */
export function TextPreview({ place, entry }: { place: Place; entry: FileEntry }) {
  const text = useQuery({
    ...files.content(
      place,
      entry,
      'text',
      async (signal) => (await readText(place, entry, signal)) ?? ('no text' as const),
    ),
    gcTime: 60_000,
  });
  const failure = useFailure(text);
  if (failure) return <Failure {...failure} />;
  if (text.data === undefined) return <Skeleton lines={8} label="Loading the preview" />;
  if (text.data === 'no text') return <NoPreview>There is no preview of this kind of file.</NoPreview>;
  const { cut, hasLongLines } = text.data;
  return (
    <>
      {(cut || hasLongLines) && (
        <p role="note" className="border-b border-line bg-warn-soft px-4 py-1.5 text-[13px] text-warn">
          {cut &&
            `The preview ends after ${'lines' in cut ? `${cut.lines.toLocaleString('en')} lines` : `${shownBytes(cut.bytes)} of ${shownBytes(entry.size)}`}. `}
          {hasLongLines && 'Very long lines are cut. '}
          Download the file to see all of it.
        </p>
      )}
      <Lines key={entry.path} text={text.data} label={`Content of ${entry.name}`} />
    </>
  );
}

function Lines({ text: { lines }, label }: { text: TextBeginning; label: string }) {
  const place = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => place.current,
    estimateSize: () => LINE_PX,
    overscan: 40,
  });
  const items = virtual.getVirtualItems();
  const width = `${String(lines.length).length + 1}ch`;
  return (
    <section
      ref={place}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
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
                {lines[index]}
              </span>
            </div>
          ))}
        </div>
      </div>
    </section>
  );
}
