import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readSkillSearch } from '../../pages/skills/search.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { readTextSearch } from '../../parts/navigation/search-params.ts';
import { under } from './root.ts';

const loadSkillPages = () => loadChunk(() => import('../../pages/skills/pages.ts'));
const skills = createRoute({
  getParentRoute: under,
  path: '/skills',
  validateSearch: readTextSearch,
  component: lazyRouteComponent(loadSkillPages, 'SkillsPage'),
});

const newSkill = createRoute({
  getParentRoute: under,
  path: '/skills/new',
  component: lazyRouteComponent(loadSkillPages, 'NewSkillPage'),
});

const skill = createRoute({
  getParentRoute: under,
  path: '/skills/$skillId',
  validateSearch: readSkillSearch,
  component: lazyRouteComponent(loadSkillPages, 'SkillPage'),
});

export const skillsRoutes = [skills, newSkill, skill] as const;
