import { Fragment } from 'react';
import { FileName } from './file-name.tsx';
import { foldersAbove, nameOf } from './paths.ts';

/** Path of the selected entry with links to its parent folders. */
export function Breadcrumbs({ path, onPath }: { path: string; onPath: (path: string | undefined) => void }) {
  const ancestors = path ? ['', ...foldersAbove(path)] : [];
  return (
    <nav aria-label="Path" className="min-w-0">
      <ol className="flex flex-wrap items-center gap-x-1 text-[13px]">
        {ancestors.map((folder) => (
          <Fragment key={folder}>
            <li className="max-w-56 min-w-0">
              <button
                type="button"
                className="block max-w-full rounded px-1 py-0.5 text-accent hover:underline"
                onClick={() => onPath(folder || undefined)}
              >
                {folder ? <FileName text={nameOf(folder)} truncate /> : 'Workspace'}
              </button>
            </li>
            <li aria-hidden className="text-muted">
              /
            </li>
          </Fragment>
        ))}
        <li aria-current="page" className="max-w-full min-w-0 px-1 py-0.5 font-medium">
          {path ? <FileName text={nameOf(path)} truncate /> : 'Workspace'}
        </li>
      </ol>
    </nav>
  );
}
