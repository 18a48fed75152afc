import { useQuery } from '@tanstack/react-query';
import { type SkillVersionRef, skills, skillVersionPath } from '../../api/skills.ts';
import type { SkillVersion } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { FileName } from '../../parts/files/file-name.tsx';
import { VisibleText } from '../../parts/text/visible-text.tsx';
import { UserName } from '../../parts/users/user-name.tsx';
import { exactBytes, formatBytes } from '../../ui/bytes.ts';
import { Copyable } from '../../ui/code.tsx';
import { Card } from '../../ui/page.tsx';
import { PropertyList, type PropertyListItem } from '../../ui/property-list.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';

/** Properties and warnings of a version. */
export function VersionFacts({ of }: { of: SkillVersionRef }) {
  const query = useQuery(skills.version(of));
  const failure = useQueryFailure(query);
  const curlOf = useCurl();
  if (failure) return <ErrorState {...failure} curl={curlOf({ path: skillVersionPath(of) })} />;
  if (query.data === undefined) return <Skeleton lines={4} />;
  const { warnings } = query.data;
  return (
    <>
      {warnings.length > 0 && (
        <section
          aria-label="Warnings"
          className="max-h-48 overflow-y-auto rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
          tabIndex={0}
        >
          <h3 className="font-medium">
            {warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`}
          </h3>
          <ul className="list-disc ps-5">
            {warnings.map(({ path, message }) => (
              <li key={path + message} className="wrap-anywhere">
                <code className="font-mono">
                  <FileName text={path} />
                </code>{' '}
                {message}.
              </li>
            ))}
          </ul>
        </section>
      )}
      <Card>
        <PropertyList facts={factsOf(query.data)} />
      </Card>
    </>
  );
}

function factsOf(version: SkillVersion): PropertyListItem[] {
  const { description, license, compatibility, allowed_tools: tools, metadata } = version;
  const { bytes, file_count: count, sha256, created_at: at, created_by: by } = version;
  const text = (name: string, value: string): PropertyListItem[] =>
    value === '' ? [] : [{ name, value: <VisibleText text={value} /> }];
  return [
    { name: 'Description for the model', value: <VisibleText text={description} />, wide: true },
    {
      name: 'Published',
      value: (
        <>
          <Time at={at} /> by <UserName id={by} />
        </>
      ),
    },
    {
      name: 'Size',
      value: (
        <span title={exactBytes(bytes)}>
          {formatBytes(bytes)} in {count === 1 ? '1 file' : `${count.toLocaleString('en')} files`}
        </span>
      ),
    },
    ...text('License', license),
    ...text('Compatibility', compatibility),
    ...text('Tools that it names (grants nothing)', tools),
    ...Object.entries(metadata).flatMap(([name, value]) => text(`Metadata: ${name}`, String(value))),
    { name: 'SHA-256', value: <Copyable text={sha256} label="Copy SHA-256 of the version" /> },
  ];
}
