import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type SkillVersionRef, skills, skillVersionPath } from '../../api/skills.ts';
import type { Skill } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { FileList } from './file-list.tsx';
import { FileView } from './file-view.tsx';
import { VersionFacts } from './version-facts.tsx';

const route = getRouteApi('/skills/$skillId');

/** A version of a skill: its properties and files, or one of its files. */
export function FilesTab({ skill: { skill_id: skillId, version: newest } }: { skill: Skill }) {
  const { version = newest, path } = route.useSearch();
  const navigate = route.useNavigate();
  // Versions have the numbers from 1 to the newest one.
  const numbers = Array.from({ length: Math.max(newest, version) }, (_, index) => index + 1).reverse();
  const of = { skillId, version };
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Select
          label="Version"
          value={String(version)}
          options={numbers.map((number) => ({
            value: String(number),
            text: number === newest ? `Version ${number} (newest)` : `Version ${number}`,
          }))}
          onChange={(chosen) => void navigate({ search: { version: Number(chosen), path } })}
        />
        <CopyCurl path={`${skillVersionPath(of)}/files`} about="files" />
      </div>
      {path === undefined && <VersionFacts of={of} />}
      <VersionFiles of={of} path={path} />
    </div>
  );
}

function VersionFiles({ of, path }: { of: SkillVersionRef; path: string | undefined }) {
  const query = useQuery(skills.files(of));
  const failure = useQueryFailure(query);
  const curlOf = useCurl();
  if (failure) return <ErrorState {...failure} curl={curlOf({ path: `${skillVersionPath(of)}/files` })} />;
  if (query.data === undefined) return <Skeleton lines={4} />;
  if (path === undefined) return <FileList of={of} files={query.data} />;
  return <FileView key={path} of={of} path={path} file={query.data.find((file) => file.path === path)} />;
}
