import { getRouteApi } from '@tanstack/react-router';
import { BookMarked, Upload } from 'lucide-react';
import { skills } from '../../api/skills.ts';
import type { Skill } from '../../gen/index.ts';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { useShortcut } from '../../parts/navigation/shortcuts.ts';
import { Catalogue } from '../../parts/resources/catalogue.tsx';
import { useList } from '../../parts/resources/list.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { SkillState } from './skill-state.tsx';

const route = getRouteApi('/skills');

const COLUMNS: readonly Column<Skill>[] = [
  { name: 'Name', className: 'w-[24%]', cell: (skill) => <SkillCell skill={skill} /> },
  { name: 'Description', cell: ({ description }) => <TruncatedText text={description} /> },
  { name: 'Version', className: 'w-24', cell: ({ version }) => version },
  { name: 'State', className: 'w-32', cell: (skill) => <SkillState skill={skill} /> },
  { name: 'Updated', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
];

export function SkillsPage() {
  return (
    <AdministratorsOnly title="Skills">
      <SkillCatalogue />
    </AdministratorsOnly>
  );
}

function SkillCatalogue() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(skills.list(q));
  useShortcut('n', 'New skill', () => void navigate({ to: '/skills/new' }));
  return (
    <Catalogue
      title="Skills"
      lead="Instructions and files for certain tasks. A model reads them when it needs them."
      noun="skills"
      q={q}
      onSearch={(words) => void navigate({ search: { q: words }, replace: true })}
      path="/admin/skills"
      list={list}
      keyOf={({ skill_id: id }) => id}
      columns={COLUMNS}
      card={(skill) => <SkillCard skill={skill} />}
      create={
        <ButtonLink to="/skills/new" look="primary">
          <Upload aria-hidden />
          New skill
        </ButtonLink>
      }
      all={
        <ButtonLink to="/skills" search={{}}>
          Show all
        </ButtonLink>
      }
      none={<EmptyState icon={<BookMarked />}>No skills yet. Upload one, and add it to an agent.</EmptyState>}
    />
  );
}

function SkillCell({ skill: { skill_id: skillId, name } }: { skill: Skill }) {
  return (
    <TextLink to="/skills/$skillId" params={{ skillId }} className="block">
      <TruncatedText text={name} />
    </TextLink>
  );
}

function SkillCard({ skill }: { skill: Skill }) {
  return (
    <div className="flex flex-col gap-1.5">
      <SkillCell skill={skill} />
      <TruncatedText text={skill.description} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
        <SkillState skill={skill} />
        Version {skill.version}
        <Time at={skill.updated_at} />
      </div>
    </div>
  );
}
