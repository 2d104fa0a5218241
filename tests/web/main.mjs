// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the cases one after the other: each begins where the one before ended.
import {execFile, spawnSync} from 'node:child_process'
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {createRequire} from 'node:module'
import {dirname, join, resolve} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {Backend, Daemon} from './daemon.mjs'
import {FLOWS} from './flows.mjs'
import {FORMS} from './forms.mjs'
import {Gateway} from './gateway.mjs'
import {LAB} from './lab.mjs'
import {LOOKS} from './looks.mjs'
import {TOLD} from './told.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../..')
const webui = join(root, 'webui')
const need = createRequire(join(webui, 'package.json'))
const build = resolve(root, process.env.BUILD ?? 'build')
const program = join(build, 'default')
const out = join(build, 'web')
const start = promisify(execFile)
const CASE_MS = 240000 // a machine that does all other stages beside is slow

let passed = 0, failed = 0
async function judge(name, run, limit = CASE_MS) {
	const began = Date.now()
	let timer
	try {
		await Promise.race([run(), new Promise((_, fail) => { timer = setTimeout(() => fail(new Error(`no end in ${limit / 1000} s`)), limit) })])
		passed++
		console.log(`ok   ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`)
	} catch (fault) {
		failed++
		console.log(`FAIL ${name}: ${String(fault.stack ?? fault).split('\n').slice(0, 12).join('\n     ')}`)
	} finally { clearTimeout(timer) }
}

/** The pure parts, by node's own runner; bundled first, as node takes no TypeScript. */
function unit() {
	const made = join(out, 'unit')
	rmSync(made, {recursive: true, force: true})
	const files = readdirSync(join(here, 'unit')).filter(name => name.endsWith('_test.ts'))
	need('esbuild').buildSync({
		entryPoints: files.map(name => join(here, 'unit', name)), bundle: true, platform: 'node', format: 'esm', outdir: made, outExtension: {'.js': '.mjs'}, logLevel: 'error',
		nodePaths: [join(webui, 'node_modules')], jsx: 'automatic', jsxImportSource: 'preact',
	})
	const run = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...files.map(name => join(made, name.replace('.ts', '.mjs')))], {encoding: 'utf8', env: {...process.env, TZ: 'UTC'}})
	const tests = Number(/^# pass (\d+)/m.exec(run.stdout)?.[1] ?? 0)
	if (run.status !== 0 || tests === 0) throw new Error(`${tests} passed\n${run.stdout.split('\n').filter(line => /not ok|error:|expected|actual|failure/.test(line)).slice(0, 30).join('\n')}\n${run.stderr}`)
}

async function types(daemon) {
	const answer = await daemon.must('GET', '/openapi.json')
	const file = join(out, 'openapi.json')
	writeFileSync(file, JSON.stringify(answer))
	await start(process.execPath, ['types.mjs', file], {cwd: webui})
	await start(process.execPath, [need.resolve('typescript/lib/tsc.js'), '-p', '.'], {cwd: webui}).catch(fault => { throw new Error(fault.stdout || fault.message) })
}

function budget() {
	const sizes = JSON.parse(readFileSync(join(program, 'webui/sizes.json'), 'utf8'))
	const total = Object.values(sizes).reduce((sum, file) => sum + file.gzip, 0)
	if (total > 120 * 1024) throw new Error(`${total} bytes compressed, 122880 are allowed`)
}

/** The stories of the lab; a lab that does not start or end is a story that fails. */
async function lab(world, wanted) {
	const gateway = new Gateway(build, out)
	const there = {...world, gateway, base: gateway.base, contexts: new Map()}
	try {
		await gateway.start()
		for (const run of LAB.slice(0, LAB.findLastIndex(wanted) + 1)) await judge(run.name, () => run(there))
	} finally { await gateway.stop() }
}

async function pages(world, wanted) {
	// What later cases need is done also when they are asked for alone.
	for (const run of [...FLOWS, ...FORMS, ...TOLD, ...LOOKS]) if (run.needed || wanted(run)) await judge(run.name, () => run(world))
}

/** All cases, or those named; `lab` is all stories of the lab. */
async function main(names) {
	if (!existsSync(join(program, 'webui/sizes.json'))) throw new Error(`${program} holds no web UI: make deps && make`)
	if (names.length === 0) rmSync(join(out, 'shots'), {recursive: true, force: true}) // else those of the other cases stay
	mkdirSync(join(out, 'shots'), {recursive: true})
	const daemon = new Daemon(program, out)
	const backends = [11, 12, 13, 14].map(n => new Backend(`127.0.1.${n}`))
	const {chromium} = need('playwright-core')
	const axe = readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8')
	const wanted = ({name}) => names.length === 0 || names.includes(name) || (name.startsWith('lab_') && names.includes('lab'))
	let browser
	try {
		browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']})
		const world = {daemon, backends, base: daemon.base, browser, axe, shots: join(out, 'shots'), contexts: new Map()}
		const inLab = LAB.some(wanted) ? judge('lab', () => lab(world, wanted), 2 * CASE_MS) : undefined
		await Promise.all([daemon.start(), ...backends.map(b => b.start())])
		// The compiler works beside the browser: it needs the daemon once, at its beginning.
		const compiled = wanted(types) ? judge('types', () => types(daemon)) : undefined
		if (wanted(unit)) await judge('unit', unit)
		if (wanted(budget)) await judge('budget', budget)
		if ([...FLOWS, ...FORMS, ...TOLD, ...LOOKS].some(wanted)) await pages(world, wanted)
		await Promise.all([inLab, compiled])
	} finally {
		await browser?.close()
		await Promise.all(backends.map(b => b.stop().catch(() => undefined)))
		await daemon.dispose()
	}
}

try { await main(process.argv.slice(2)) } catch (fault) {
	failed++
	console.log(`FAIL web: ${fault.stack}`)
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`)
process.exit(failed ? 1 : 0)
