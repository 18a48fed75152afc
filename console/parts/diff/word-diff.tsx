import { VisibleText } from '../text/visible-text.tsx';
import { diffParts } from './lines.ts';

const TAGS = { same: 'span', removed: 'del', added: 'ins' } as const;
const TONES = {
  same: '',
  removed: 'rounded bg-bad-soft text-bad',
  added: 'rounded bg-good-soft text-good no-underline',
};
const PREFIXES = { same: '', removed: 'Removed: ', added: 'Added: ' };

const wordsOf = (text: string) => text.split(/(\s+)/).filter((word) => word !== '');

/** The differences of two texts, word by word. */
export function WordDiff({ before, after }: { before: string; after: string }) {
  return diffParts(wordsOf(before), wordsOf(after)).map(({ kind, text }, index) => {
    const Tag = TAGS[kind];
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: words are identified by their position
      <Tag key={index} className={TONES[kind]}>
        {kind !== 'same' && text.trim() !== '' && <span className="sr-only">{PREFIXES[kind]}</span>}
        <VisibleText text={text} />
      </Tag>
    );
  });
}
