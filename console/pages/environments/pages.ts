/** The pages of environments load together, because a user of one opens the others next. */
export { EnvironmentPage } from './environment.tsx';
export { EnvironmentsPage } from './environments.tsx';
export { NewEnvironmentPage } from './new.tsx';
