/** Invisible characters, including those that change the text direction. */
const HIDDEN = /([\u0080-\u009f\u200b\u2028-\u202e\u2060-\u2069\ufeff])/;

/** A file name with invisible characters written out. With `truncate` it is limited to one line. */
export function FileName({ text, truncate }: { text: string; truncate?: boolean }) {
  const name = (
    <bdi className={truncate ? 'whitespace-pre' : 'whitespace-pre-wrap wrap-anywhere'}>
      {text.split(HIDDEN).map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: text parts are identified by their position
          <span key={index} className="mx-0.5 rounded bg-warn-soft px-1 font-mono text-xs text-warn">
            {`U+${part.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`}
          </span>
        ),
      )}
    </bdi>
  );
  // Names align at the start regardless of their text direction.
  return truncate ? (
    <span className="block truncate" title={text}>
      {name}
    </span>
  ) : (
    name
  );
}
