/** Characters that show nothing themselves, but may turn around what is shown of others. */
const HIDDEN = /([\u0080-\u009f\u200b\u2028-\u202e\u2060-\u2069\ufeff])/;

/** The name of a file, exactly: what nobody could see in it is written out. With `cut`, it is one line and no longer. */
export function Name({ text, cut }: { text: string; cut?: boolean }) {
  const name = (
    <bdi className={cut ? 'whitespace-pre' : 'whitespace-pre-wrap wrap-anywhere'}>
      {text.split(HIDDEN).map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other
          <span key={index} className="mx-0.5 rounded bg-warn-soft px-1 font-mono text-xs text-warn">
            {`U+${part.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`}
          </span>
        ),
      )}
    </bdi>
  );
  // Whatever the name is written in, it begins where the others do.
  return cut ? (
    <span className="block truncate" title={text}>
      {name}
    </span>
  ) : (
    name
  );
}
