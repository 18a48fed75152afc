import { getRouteApi } from '@tanstack/react-router';
import { skills } from '../../api/skills.ts';
import type { Skill } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { TextLink } from '../../parts/navigation/links.tsx';
import { ResourceLead } from '../../parts/resources/resource-lead.tsx';
import { ResourcePage } from '../../parts/resources/resource-page.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { FilesTab } from './files-tab.tsx';
import { DeleteSkill, PublishVersion, ToggleSkill } from './skill-actions.tsx';
import { SkillState } from './skill-state.tsx';
import { VersionsTab } from './versions-tab.tsx';

const route = getRouteApi('/skills/$skillId');

const TABS = [
  { value: 'files', text: 'Files' },
  { value: 'versions', text: 'Versions' },
] as const;

export function SkillPage() {
  const { skillId } = route.useParams();
  return (
    <AdministratorsOnly title="Skill">
      <ResourcePage
        key={skillId}
        options={skills.detail(skillId)}
        title="Skill"
        path={`/admin/skills/${skillId}`}
      >
        {(skill) => <SkillContent skill={skill} />}
      </ResourcePage>
    </AdministratorsOnly>
  );
}

function SkillContent({ skill }: { skill: Skill }) {
  const { skill_id: id, name, description, version } = skill;
  const { tab = 'files' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page
      title={name}
      above={<TextLink to="/skills">Skills</TextLink>}
      lead={
        <ResourceLead noun="skill" id={id} description={description}>
          <SkillState skill={skill} />
          <span>Version {version}</span>
        </ResourceLead>
      }
      actions={
        <>
          <CopyCurl path={`/admin/skills/${id}`} />
          <ToggleSkill skill={skill} />
          <DeleteSkill skill={skill} />
          <PublishVersion skill={skill} onPublished={() => void navigate({ search: {} })} />
        </>
      }
    >
      <Tabs
        label="Skill sections"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => void navigate({ search: chosen === 'files' ? {} : { tab: chosen } })}
      >
        <div className="pt-4">
          {tab === 'files' && <FilesTab skill={skill} />}
          {tab === 'versions' && <VersionsTab skill={skill} />}
        </div>
      </Tabs>
    </Page>
  );
}
