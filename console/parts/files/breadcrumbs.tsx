import { Fragment } from 'react';
import { Name } from './name.tsx';
import { foldersAbove, nameOf } from './paths.ts';

/** Where something is, and the way back up. */
export function Breadcrumbs({ path, onPath }: { path: string; onPath: (path: string | undefined) => void }) {
  const above = path ? ['', ...foldersAbove(path)] : [];
  return (
    <nav aria-label="Where it is" className="min-w-0">
      <ol className="flex flex-wrap items-center gap-x-1 text-[13px]">
        {above.map((folder) => (
          <Fragment key={folder}>
            <li className="max-w-56 min-w-0">
              <button
                type="button"
                className="block max-w-full rounded px-1 py-0.5 text-accent hover:underline"
                onClick={() => onPath(folder || undefined)}
              >
                {folder ? <Name text={nameOf(folder)} cut /> : 'Workspace'}
              </button>
            </li>
            <li aria-hidden className="text-muted">
              /
            </li>
          </Fragment>
        ))}
        <li aria-current="page" className="max-w-full min-w-0 px-1 py-0.5 font-medium">
          {path ? <Name text={nameOf(path)} cut /> : 'Workspace'}
        </li>
      </ol>
    </nav>
  );
}
