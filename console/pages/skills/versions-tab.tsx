import { getRouteApi } from '@tanstack/react-router';
import { skills } from '../../api/skills.ts';
import type { Skill } from '../../gen/index.ts';
import { VersionHistory } from '../../parts/editor/version-history.tsx';
import { TextLink } from '../../parts/navigation/links.tsx';
import { VersionComparison } from './comparison/version-comparison.tsx';

const route = getRouteApi('/skills/$skillId');

/** All versions of a skill with their dates and authors, and the changes between two of them. */
export function VersionsTab({ skill: { skill_id: skillId } }: { skill: Skill }) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <VersionHistory
      lead="A version never changes. Agents and assistants keep the version that they have until they are moved to another one."
      pages={skills.versions(skillId)}
      path={`/admin/skills/${skillId}/versions`}
      from={from}
      to={to}
      onChange={(pair) => void navigate({ search: { tab: 'versions', ...pair }, replace: true })}
    >
      {(after, before) => (
        <>
          {before ? (
            <VersionComparison
              key={`${before.version} ${after.version}`}
              skillId={skillId}
              before={before}
              after={after}
            />
          ) : (
            <p className="mb-3 text-muted">Version {after.version} is the first one.</p>
          )}
          <p className="mt-3">
            <TextLink to="/skills/$skillId" params={{ skillId }} search={{ version: after.version }}>
              Files of version {after.version}
            </TextLink>
          </p>
        </>
      )}
    </VersionHistory>
  );
}
