import { Page } from '../../ui/page.tsx';

export function NewEnvironmentPage() {
  return <Page title="New environment">{null}</Page>;
}
