import type { McpCatalogue } from '../../../gen/index.ts';
import { WordDiff } from '../../../parts/diff/word-diff.tsx';
import { VisibleText } from '../../../parts/text/visible-text.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/page.tsx';
import { PropertyList } from '../../../ui/property-list.tsx';
import { WARNING_TEXTS } from './warnings.ts';

interface ServerTextsProps {
  seen: McpCatalogue;
  reviewed: McpCatalogue | null;
}

/** Title and instructions of the server, compared with the review. */
export function ServerTexts({ seen, reviewed }: ServerTextsProps) {
  const textOf = (member: 'title' | 'instructions') => {
    const before = reviewed?.[member] ?? seen[member];
    return before === seen[member] ? (
      <VisibleText text={seen[member]} />
    ) : (
      <WordDiff before={before} after={seen[member]} />
    );
  };
  const facts = (['title', 'instructions'] as const)
    .filter((member) => seen[member] !== '' || (reviewed?.[member] ?? '') !== '')
    .map((member) => ({
      name: member === 'title' ? 'Title' : 'Instructions',
      value: <span className="whitespace-pre-wrap">{textOf(member)}</span>,
      wide: true,
    }));
  if (facts.length === 0) return null;
  return (
    <Card>
      <PropertyList facts={facts} />
      {seen.warnings.length > 0 && (
        <div className="flex flex-wrap gap-2 px-4 pb-4 sm:px-5">
          {seen.warnings.map(({ kind, pointer }) => (
            <Badge key={kind + pointer} tone="bad">
              {WARNING_TEXTS[kind]}
            </Badge>
          ))}
        </div>
      )}
    </Card>
  );
}
