import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Select } from '../../ui/select.tsx';
import { Time } from '../../ui/time.tsx';
import { UserName } from '../users/user-name.tsx';

export interface Version {
  version: number;
  created_at: string;
  created_by: string | null;
}

export interface CompareProps<One extends Version> {
  /** Newest first. */
  versions: readonly One[];
  /** The compared versions. Default: the newest version and the one before it. */
  from: number | undefined;
  to: number | undefined;
  onChange: (pair: { from: number; to: number }) => void;
  /** The changes from `before`; without it, the content of the only version. */
  children: (after: One, before?: One) => ReactNode;
}

/** List of versions and the differences between two of them. */
export function Compare<One extends Version>({ versions, from, to, onChange, children }: CompareProps<One>) {
  const find = (number: number | undefined) => versions.find(({ version }) => version === number);
  const after = find(to) ?? versions[0];
  const before = find(from) ?? versions[after ? versions.indexOf(after) + 1 : 0];
  if (!after) return null;
  const options = versions.map(({ version }) => ({ value: String(version), text: `Version ${version}` }));
  return (
    <div className="grid gap-6 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <ol className="max-h-[70vh] divide-y divide-line self-start overflow-y-auto rounded-xl border border-line bg-surface">
        {versions.map((one, index) => {
          const older = versions[index + 1];
          const isShown = one === after;
          return (
            <li
              key={one.version}
              aria-current={isShown || undefined}
              className={classes(
                'flex items-center justify-between gap-2 px-3 py-2',
                isShown && 'bg-accent-soft',
              )}
            >
              <div className="min-w-0">
                <div className="font-medium">Version {one.version}</div>
                <div className="truncate text-[13px] text-muted">
                  <Time at={one.created_at} /> by <UserName id={one.created_by} />
                </div>
              </div>
              {older && (
                <Button
                  small
                  aria-label={`Compare version ${one.version} with the previous version`}
                  onClick={() => onChange({ from: older.version, to: one.version })}
                >
                  Compare
                </Button>
              )}
            </li>
          );
        })}
      </ol>
      <div className="min-w-0">
        {before ? (
          <>
            <h2 className="sr-only">Changes</h2>
            <p role="status" className="sr-only">
              Version {before.version} compared with version {after.version}.
            </p>
            <div className="mb-3 flex flex-wrap items-center gap-2">
              <span>From</span>
              <Select
                label="From version"
                value={String(before.version)}
                options={options}
                onChange={(chosen) => onChange({ from: Number(chosen), to: after.version })}
              />
              <span>to</span>
              <Select
                label="To version"
                value={String(after.version)}
                options={options}
                onChange={(chosen) => onChange({ from: before.version, to: Number(chosen) })}
              />
            </div>
            {children(after, before)}
          </>
        ) : (
          children(after)
        )}
      </div>
    </div>
  );
}
