/** The pages of skills load together, because a user of one opens the others next. */
export { NewSkillPage } from './new.tsx';
export { SkillPage } from './skill.tsx';
export { SkillsPage } from './skills.tsx';
