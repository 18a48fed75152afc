import { useQuery } from '@tanstack/react-query';
import { skills, skillVersionPath } from '../../../api/skills.ts';
import type { SkillVersion } from '../../../gen/index.ts';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { Diff } from '../../../parts/diff/diff.tsx';
import { WordDiff } from '../../../parts/diff/word-diff.tsx';
import { ErrorState } from '../../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../../parts/errors/use-query-failure.ts';
import { Card } from '../../../ui/page.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { FileChangeRow } from './file-change-row.tsx';
import { fileChanges } from './file-changes.ts';

export interface VersionComparisonProps {
  skillId: string;
  before: SkillVersion;
  after: SkillVersion;
}

/** Number of changed files whose texts are shown without a click. */
const OPEN_FILES = 3;

/** The changes between two versions of a skill: the description for the model, and every file that differs. */
export function VersionComparison({ skillId, before, after }: VersionComparisonProps) {
  const old = { skillId, version: before.version };
  const now = { skillId, version: after.version };
  const oldFiles = useQuery(skills.files(old));
  const newFiles = useQuery(skills.files(now));
  const oldFailure = useQueryFailure(oldFiles);
  const failure = useQueryFailure(newFiles) ?? oldFailure;
  const curlOf = useCurl();
  const failed = newFiles.error ? now : old;
  if (failure)
    return <ErrorState {...failure} curl={curlOf({ path: `${skillVersionPath(failed)}/files` })} />;
  if (oldFiles.data === undefined || newFiles.data === undefined) return <Skeleton lines={6} />;
  const changes = fileChanges(oldFiles.data, newFiles.data);
  return (
    <div className="flex flex-col gap-4">
      {before.description !== after.description && (
        <section aria-label="Description for the model">
          <h3 className="mb-1 font-medium">Description for the model</h3>
          <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
            <WordDiff before={before.description} after={after.description} />
          </p>
        </section>
      )}
      <section aria-label="Changed files">
        <h3 className="mb-1 font-medium">
          {changes.length === 1 ? '1 changed file' : `${changes.length.toLocaleString('en')} changed files`}
        </h3>
        {changes.length === 0 ? (
          <Diff before={[]} after={[]} />
        ) : (
          <Card className="overflow-hidden">
            <ul aria-label="Changed files">
              {changes.map((change, index) => (
                <FileChangeRow
                  key={change.path}
                  change={change}
                  old={old}
                  now={now}
                  isOpenAtFirst={index < OPEN_FILES}
                />
              ))}
            </ul>
          </Card>
        )}
      </section>
    </div>
  );
}
