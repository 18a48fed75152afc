/**
 * The client program of the conformance suite of MCP. Asks the process of the test to run the scenario with the product, because
 * a start of the product for each scenario would take minutes.
 */
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const [driver = '', url] = process.argv.slice(2);
const body = JSON.stringify({ scenario, url, context: JSON.parse(context) });
const response = await fetch(driver, { method: 'POST', body });
if (!response.ok) {
  console.error(await response.text());
  process.exitCode = 1;
}
