import { Page } from '../../ui/page.tsx';

export function EnvironmentPage() {
  return <Page title="Environment">{null}</Page>;
}
