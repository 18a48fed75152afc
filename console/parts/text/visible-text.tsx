import { visibleParts } from './visible-text.ts';

/** A text that an administrator reviews. Invisible characters are shown as marks with their code points. */
export function VisibleText({ text }: { text: string }) {
  return visibleParts(text).map((part, index) =>
    part.isMark ? (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by their position
        key={index}
        className="mx-px rounded border border-bad bg-bad-soft px-1 font-mono text-[11px] text-bad"
      >
        {part.text}
      </span>
    ) : (
      part.text
    ),
  );
}
