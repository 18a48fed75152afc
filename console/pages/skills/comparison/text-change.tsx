import { skipToken, useQuery } from '@tanstack/react-query';
import type { SkillVersionRef } from '../../../api/skills.ts';
import type { SkillFile } from '../../../gen/index.ts';
import { DiffLines } from '../../../parts/diff/diff-lines.tsx';
import { diffLines, hunksOf } from '../../../parts/diff/lines.ts';
import { ErrorState } from '../../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../../parts/errors/use-query-failure.ts';
import type { FileText } from '../../../parts/files/preview/read-text.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { skillText } from '../skill-text.ts';
import type { FileChange } from './file-changes.ts';

/** More rows would make the page slow. */
const MAX_ROWS = 2_000;

export interface TextChangeProps {
  change: FileChange;
  old: SkillVersionRef;
  now: SkillVersionRef;
}

/** The differences of the texts of a file, line by line. */
export function TextChange({ change: { path, before, after }, old, now }: TextChangeProps) {
  const oldText = useFileText(old, path, before);
  const newText = useFileText(now, path, after);
  const failure = newText.failure ?? oldText.failure;
  if (failure) return <ErrorState {...failure} />;
  if (oldText.text === undefined || newText.text === undefined)
    return <Skeleton lines={4} label={`Loading ${path}`} />;
  if (oldText.text === 'not text' || newText.text === 'not text')
    return <p className="text-[13px] text-muted">The file is not text.</p>;
  const rows = hunksOf(diffLines(oldText.text.lines.join('\n'), newText.text.lines.join('\n'))).flat();
  const isCut = [oldText.text, newText.text].some((text) => text.truncatedAt || text.hasLongLines);
  const isEqual = !rows.some((row) => typeof row !== 'number');
  return (
    <>
      {isEqual ? (
        <p className="text-[13px] text-muted">
          {isCut ? 'The compared beginnings are equal.' : 'The texts differ in line breaks only.'}
        </p>
      ) : (
        <DiffLines rows={rows.slice(0, MAX_ROWS)} marksInvisible />
      )}
      {(isCut || rows.length > MAX_ROWS) && (
        <p role="note" className="mt-1 text-[13px] text-warn">
          The file is long. Only its beginning is compared.
        </p>
      )}
    </>
  );
}

const NO_TEXT: FileText = { lines: [], truncatedAt: undefined, hasLongLines: false };

/** The text of one side of a change. A side without the file, or with an empty file, has no lines. */
function useFileText(of: SkillVersionRef, path: string, file: SkillFile | undefined) {
  const size = file?.size ?? 0;
  const options = skillText(of, { path, size });
  const query = useQuery(size > 0 ? options : { ...options, queryFn: skipToken });
  const failure = useQueryFailure(query);
  return size > 0 ? { text: query.data, failure } : { text: NO_TEXT, failure: undefined };
}
