// look.mjs - what a browser makes of pages: for people to look at, and for what a script can tell.
//
// Each page is opened without JavaScript at 360 and at 1440 pixels, in light, in dark and in forced
// colours, and printed.  It must ask for nothing, say nothing on the console, be no wider than the
// window, have no text of a chart upon another or outside of its picture, and no violation that
// axe-core knows.  Pictures and PDFs are left in the folder OUT.
//
// usage: node look.mjs NODE_MODULES OUT PAGE.html...
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const [modules, out, ...pages] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "x.js"));
const puppeteer = require("puppeteer-core");
const axe = fs.readFileSync(path.join(modules, "axe-core", "axe.min.js"), "utf8");
const MOST_SHEETS = 6;

const LOOKS = [
  ["light", [{ name: "prefers-color-scheme", value: "light" }]],
  ["dark", [{ name: "prefers-color-scheme", value: "dark" }]],
  ["forced", [{ name: "forced-colors", value: "active" }]],
];

// Runs in the page: texts that touch, or leave their picture; and whether the page is too wide.
function layoutFaults() {
  const faults = [];
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) faults.push(`the page is ${wide} px wider than the window`);
  for (const svg of document.querySelectorAll("svg[role=img]")) {
    const frame = svg.getBoundingClientRect();
    const scale = frame.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].map((text) => {
      const box = text.getBoundingClientRect();
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      // A line's box is higher than its letters.
      const middle = (box.top + box.bottom) / 2;
      return { left: box.left, right: box.right, top: middle - 0.36 * size,
               bottom: middle + 0.36 * size, said: text.textContent };
    });
    const id = svg.getAttribute("aria-labelledby");
    for (const a of texts)
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 ||
          a.bottom > frame.bottom + 1)
        faults.push(`${id}: "${a.said}" leaves its picture`);
    for (let i = 0; i < texts.length; i++)
      for (let j = i + 1; j < texts.length; j++) {
        const a = texts[i], b = texts[j];
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
          faults.push(`${id}: "${a.said}" lies upon "${b.said}"`);
      }
  }
  return faults;
}

async function look(browser, file) {
  const name = path.basename(file, ".html");
  const faults = [];
  const address = "file://" + path.resolve(file);
  const page = await browser.newPage();
  await page.setJavaScriptEnabled(false);
  page.on("console", (message) => faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error}`));
  page.on("request", (request) => {
    if (request.url() !== address) faults.push(`asks for ${request.url()}`);
  });
  for (const width of [360, 1440])
    for (const [look, features] of LOOKS) {
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([]);
      const session = await page.createCDPSession();
      await session.send("Emulation.setEmulatedMedia", { features });
      await page.goto(address);
      for (const fault of await page.evaluate(layoutFaults))
        faults.push(`${width} ${look}: ${fault}`);
      await page.screenshot({ path: `${out}/${name}-${width}-${look}.png`, fullPage: true });
      await session.detach();
    }
  await page.emulateMediaFeatures([]);
  const pdf = await page.pdf({ path: `${out}/${name}.pdf`, format: "A4", printBackground: false,
                               margin: { top: "14mm", bottom: "14mm", left: "12mm", right: "12mm" } });
  const sheets = (Buffer.from(pdf).toString("latin1").match(/\/Type\s*\/Page\b/g) || []).length;
  if (sheets > MOST_SHEETS) faults.push(`prints on ${sheets} sheets`);
  await page.close();
  faults.push(...(await violations(browser, address)));
  return [...new Set(faults)];
}

// axe-core is a script: it gets a page of its own, where scripts run.
async function violations(browser, address) {
  const faults = [];
  const page = await browser.newPage();
  await page.setBypassCSP(true);
  for (const scheme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(address);
    await page.evaluate(axe);
    const result = await page.evaluate(() => globalThis.axe.run());
    for (const violation of result.violations)
      faults.push(`axe, ${scheme}: ${violation.id}: ${violation.help} ` +
                  `(${violation.nodes.length}, ${violation.nodes[0].html.slice(0, 120)})`);
  }
  await page.close();
  return faults;
}

fs.mkdirSync(out, { recursive: true });
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--force-device-scale-factor=1", "--disable-gpu"],
});
let bad = 0;
for (const file of pages) {
  const faults = await look(browser, file);
  bad += faults.length;
  console.log(`${faults.length ? "not ok" : "ok"} - ${path.basename(file)} ` +
              `(${fs.statSync(file).size} bytes)`);
  for (const fault of faults.slice(0, 40)) console.log(`#   ${fault}`);
}
await browser.close();
process.exit(bad ? 1 : 0);
