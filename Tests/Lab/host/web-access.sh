#!/bin/bash
# Who may watch in camweb: passwords, sessions, limits, and reverse proxies with TLS, in a real browser.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
repository=$(cd "$LAB/../.." && pwd)
begin

web() { "$PYTHON" "$LAB/verify/web.py" "$@"; }
clients() { "$PYTHON" "$LAB/verify/webclients.py" "$@"; }
background=()
exec </dev/null # unless a command is given a password
ends() { # ends what still runs, and the lab's own folder
    [ ${#background[@]} = 0 ] || kill "${background[@]}" 2>/dev/null || true
    clean
}
trap ends EXIT

serves() { # ARGUMENTS...: camweb in the background, as $server, at $page and $web_port
    : >web.log
    "$CAMWEB" --verbose "$@" 2>web.log &
    server=$!
    background+=("$server")
    await 20 grep -q '^serving on ' web.log || { echo "it does not serve: $(cat web.log)"; return 1; }
    web_port=$(sed -nE 's/^serving on .*:([0-9]+)(\/.*)?$/\1/p' web.log)
    page=http://127.0.0.1:$web_port
}
stops() { # NAME PID
    local status=0
    kill -TERM "$2" 2>/dev/null || true
    wait "$2" || status=$?
    check "$1" test $status = 0
}
refuses_web() { # NAME CODE PATTERN ARGUMENTS...: camweb exits with CODE after one line that has PATTERN
    local name=$1 code=$2 pattern=$3 status=0
    shift 3
    timeout 20 "$CAMWEB" "$@" >stdout 2>stderr || status=$?
    if [ "$status" != "$code" ] || [ "$(wc -l <stderr)" != 1 ] || ! grep -qE -- "$pattern" stderr; then
        fail "$name" "exit code $status in place of $code: $(head -n 3 stderr)"
    else
        pass "$name"
    fi
}

# The password file
password='correct horse & battery'
check "password: set from standard input" "$CAMWEB" password users maria <<<"$password"
check "password: mode 600" test "$(stat -c %a users)" = 600
check "password: another user" "$CAMWEB" password users <<<'another one entirely'
check "password: a line for each user, with yescrypt" test "$(grep -cE '^(maria|camweb):\$y\$' users)" = 2
check "password: nothing else is left in the folder" test "$(find . -name '.*.new' | wc -l)" = 0
cp users before
refuses_web "password: too short" 64 "has 5 bytes; use 8 to 256" password users maria <<<short
refuses_web "password: none" 64 "no password" password users maria
refuses_web "password: no such folder" 73 "cannot be written: No such file" password none/users maria <<<"$password"
refuses_web "password: a user with a colon" 64 "without ':'" password users a:b
check "password: refused, the file is as before" cmp users before
typed() { # LINE...: at a terminal, which shows nothing of it
    clients types "$CAMWEB" users "$@"
}
check "password: typed twice, and not shown" typed maria "$password" "$password"
check "password: typed differently, is refused" typed maria "$password" different --refused "differ"
check "password: Ctrl-C, and the terminal is as before" typed maria $'\x03' --refused stopped

refuses_web "password: an unknown role" 64 "expected viewer or admin" password --role root users maria
"$CAMWEB" password --role viewer roles viewer <<<"$password"
"$CAMWEB" password --role admin roles admin <<<"$password"
"$CAMWEB" password roles plain <<<"$password"
check "password: each with its role" test "$(sed -E 's/\$[^:]*/HASH/' roles | tr '\n' ' ')" = "admin:HASH:admin plain:HASH viewer:HASH:viewer "
"$CAMWEB" password roles viewer <<<"$password"
check "password: another one keeps the role" grep -qE '^viewer:.*:viewer$' roles

# What is refused
tcp=tcp://127.0.0.1:1
refuses_web "access: beyond this machine without a password" 64 "needs --password-file.*ssh -L" --listen 0.0.0.0:0 --behind-proxy $tcp
refuses_web "access: beyond this machine without TLS" 64 "reverse proxy for TLS with --behind-proxy" --listen 0.0.0.0:0 --password-file users $tcp
refuses_web "access: no password file" 64 "no such file; make it: camweb password" --password-file none $tcp
chmod 644 users
refuses_web "access: a password file that others read" 64 "run: chmod 600" --password-file users $tcp
chmod 600 users
echo wrong >damaged && chmod 600 damaged
refuses_web "access: a damaged password file" 64 "damaged:1: not USER:HASH" --password-file damaged $tcp

sed 's/:viewer$/:boss/' roles >unknown && chmod 600 unknown
refuses_web "access: an unknown role" 64 "unknown:3: the role is neither viewer nor admin; correct it" --password-file unknown $tcp

for base in cams /a/../b /a//b '/a?b' '/a b' /a%20b; do refuses_web "base: $base" 64 "expected an absolute path" --base "$base" $tcp; done
for origin in '*' 'https://*.example.org' 'https://a;script-src' 'https://a b' home.example.org; do
    refuses_web "frame ancestors: $origin" 64 "expected one origin.*'\\*' would let everyone" --frame-ancestors "$origin" $tcp
done

"$CAMREC" --encoder software --latency realtime --verbose --listen "unix:$work/door" --control-socket control --overwrite --device test --size 640x360 2>door.log &
recorder=$!
background+=("$recorder")
await 20 grep -q '^listening on ' door.log || fail "the recorder" "$(cat door.log)"

serves --listen 127.0.0.1:0 --password-file users "door=unix:$work/door,control=$work/control"
check "access: what nobody may do without a session, and what a session may" clients access "$web_port" door maria "$password"
check "access: a login on the page, light" web login "$page/" door maria "$password" --screenshot login.png
check "access: on a phone, dark" web login "$page/" door maria "$password" --size 390x844 --dark --screenshot login-phone.png
code() { curl -s -o /dev/null -w '%{http_code}' "$@"; } # CURL_ARGUMENTS...
players() {
    local command="$page/cameras/door/command"
    [ "$(code -u "maria:$password" "$page/metrics")" = 200 ] && [ "$(code "$page/metrics")" = 401 ] || { echo "metrics"; return 1; }
    curl -si "$page/live/door.ts" | grep -qi '^www-authenticate: Basic' || { echo "players are not asked"; return 1; }
    ! curl -si -H 'Sec-Fetch-Mode: cors' "$page/live/door.ts" | grep -qi '^www-authenticate: Basic' || { echo "browsers are asked"; return 1; }
    # ffmpeg asks first without a password; in its URL, a blank and an ampersand are escaped.
    timeout 60 ffmpeg -nostdin -v error -i "http://maria:correct%20horse%20%26%20battery@127.0.0.1:$web_port/live/door.ts" -frames:v 5 -f null - || return
    [ "$(code -u "maria:$password" -d command=keyframe "$command")" = 403 ] || { echo "a command without origin"; return 1; }
    [ "$(code -u "maria:$password" -H "Origin: $page" -d command=keyframe "$command")" = 200 ] || { echo "a command"; return 1; }
    [ "$(code -u maria:short "$page/metrics")" = 401 ] && [ "$(code -u 'nobody:correct horse' "$page/metrics")" = 401 ] || { echo "a wrong one"; return 1; }
    [ "$(code -H 'Authorization: Basic %%%' "$page/metrics")" = 401 ] && [ "$(code -H 'Authorization: Bearer abc' "$page/metrics")" = 401 ] || { echo "another scheme"; return 1; }
}
check "access: players and Prometheus send the password with each request" players
limits_players() { # wrong ones count, and hold up nobody who is known already
    local try last
    for try in 1 2 3 4 5 6 7 8; do last=$(code -u "maria:wrong password $try" "$page/metrics"); done
    [ "$last" = 429 ] || { echo "the eighth wrong password: $last"; return 1; }
    [ "$(code -u "maria:$password" "$page/metrics")" = 200 ] || { echo "a known player"; return 1; }
}
check "access: passwords of players are limited, too" limits_players
stops "access: camweb ends" "$server"
check "access: no password is in what camweb says" eval '! grep -i horse web.log'
check "access: a failed login is logged, with address and user" grep -qxF 'camweb: warning: login failed: from 127.0.0.1, user "maria"' web.log
if command -v fail2ban-regex >/dev/null; then
    # The journal's form. What is in a user's name bans nobody else.
    filter=$work/filter.d/camweb.conf
    mkdir filter.d
    cp /etc/fail2ban/filter.d/common.conf filter.d
    cp "$repository/examples/camweb.fail2ban" "$filter"
    found() { # LINE: the address that would be blocked
        fail2ban-regex -o '<ip>' "Nov 28 13:00:00 host camweb[4711]: $1" "$filter" 2>/dev/null
    }
    finds() {
        local line
        line=$(grep -m 1 'login failed' web.log)
        [ "$(found "$line")" = 127.0.0.1 ] || { echo "not found: $line"; return 1; }
        [ "$(found 'camweb: warning: login failed: from 192.0.2.7, user "from 192.0.2.1, user \u{22}a"')" = 192.0.2.7 ] || { echo "another address"; return 1; }
        [ "$(found 'camweb: warning: login failed: from 2001:db8::7, user "a"')" = 2001:db8::7 ] || { echo "no IPv6"; return 1; }
        [ -z "$(found 'camweb: warning: login failed: from an unknown address, user "192.0.2.1"')" ] || { echo "an address in a user's name"; return 1; }
    }
    check "fail2ban: the example's filter" finds
else
    skip "fail2ban" "no fail2ban here"
fi
serves --listen 127.0.0.1:0 --password-file users "door=unix:$work/door"
check "access: passwords are limited, and do not hold up others" clients guesses "$web_port" door maria "$password"
stops "access: camweb ends after them" "$server"

# Roles
serves --listen 127.0.0.1:0 --password-file roles "door=unix:$work/door,control=$work/control" "gone=$tcp"
cp roles before
check "pictures: however many ask, at either address, the recorder makes one a second" clients pictures "$web_port" door admin "$password"
check "pictures: a viewer's, and no stranger's" test "$(code -u "viewer:$password" "$page/live/door.jpg") $(code "$page/live/door.jpg")" = "200 401"
check "roles: what each may do, and what a changed file does to sessions" clients roles "$web_port" door "$password" roles
check "roles: a file that cannot be used is a warning" grep -q '^camweb: warning: roles:1: not USER:HASH;.*camweb keeps the users it knows$' web.log
cp before roles
sleep 2
mkfifo promoted
web watches "$page/" door viewer "$password" --screenshot viewer.png >viewer.log 2>&1 <promoted &
viewer=$!
exec 7>promoted
await 60 grep -q '^watching' viewer.log || true
sed -i 's/:viewer$/:admin/' roles
exec 7>&-
if wait $viewer; then pass "roles: a viewer's page, and that of one who becomes an administrator"; else fail "roles: a viewer's page, and that of one who becomes an administrator" "$(cat viewer.log)"; fi
stops "roles: camweb ends" "$server"

# Reverse proxies, with a certificate of our own: the examples, but for ports, names and files
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=lab -keyout ca.key -out ca.pem 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -keyout cameras.key -out cameras.csr 2>/dev/null
openssl x509 -req -in cameras.csr -CA ca.pem -CAkey ca.key -days 2 -extfile <(echo subjectAltName=DNS:localhost) -out cameras.pem 2>/dev/null
pin=$(openssl x509 -in cameras.pem -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64)
free_port() { "$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
serves --listen 127.0.0.1:0 --password-file users --behind-proxy "door=unix:$work/door"
through() { # NAME PORT
    local url=https://localhost:$2
    await 20 curl -s -o /dev/null --cacert ca.pem "$url/login" || fail "$1: it answers" "$(cat "$1.log" 2>/dev/null)"
    check "$1: a login and the live picture, through TLS" web login "$url/" door maria "$password" --pin "$pin"
    curl -s --cacert ca.pem -D headers -o /dev/null -H "Origin: $url" --data-urlencode user=maria --data-urlencode "password=$password" "$url/login"
    check "$1: the cookie is for TLS alone" grep -qiE '^set-cookie: __Host-camweb=[0-9a-f]{64}; Path=/; Max-Age=[0-9]+; HttpOnly; SameSite=Strict; Secure.?$' headers
    check "$1: tries are counted for each client, whatever it sends itself" clients guesses "$web_port" door maria "$password" --through "$2" --ca ca.pem
}
placed() { # NAME PORT ARGUMENTS...: under /cams, behind a proxy that passes on whole paths
    local name=$1 url=https://localhost:$2
    shift 2
    await 20 curl -s -o /dev/null --cacert ca.pem "$url/cams/login" || fail "$name: it answers" "$(cat "$name.log" 2>/dev/null)"
    check "$name: under a path: login, live picture, the web app" web placed "$url/cams/" door maria "$password" --pin "$pin" "$@"
    curl -s --cacert ca.pem -D headers -o /dev/null -H "Origin: $url" --data-urlencode user=maria --data-urlencode "password=$password" "$url/cams/login"
    check "$name: under a path: the cookie is for the path alone" grep -qiE '^set-cookie: __Secure-camweb=[0-9a-f]{64}; Path=/cams/; Max-Age=[0-9]+; HttpOnly; SameSite=Strict; Secure.?$' headers
    check "$name: under a path: the page is where its address begins" test "$(curl -s --cacert ca.pem -o /dev/null -w '%{http_code} %{redirect_url}' "$url/cams" | sed 's/^30[138]/30x/')" = "30x $url/cams/"
    check "$name: under a path: nothing elsewhere" test "$(code "$page/") $(code "$page/login") $(code "$page/cams/login")" = "404 404 200"
}
under=(--behind-proxy --base /cams "door=unix:$work/door")
if command -v nginx >/dev/null; then
    port=$(free_port)
    { sed -E "s/listen 443 ssl;/listen 127.0.0.1:$port ssl;/; /listen/{/443|80/{/127/!d}}; s/cameras.example.org/localhost/; s#127.0.0.1:8080#127.0.0.1:$web_port#; s#/etc/ssl/[a-z]+/#$work/#" \
        "$repository/examples/camweb.nginx"; } >site.conf
    printf 'daemon off; pid %s/nginx.pid; error_log %s/nginx.log; events {} http { access_log off; client_body_temp_path %s/nginx-body; include %s/site.conf; }\n' "$work" "$work" "$work" "$work" >nginx.conf
    check "nginx: the example's syntax" nginx -t -q -c "$work/nginx.conf"
    nginx -c "$work/nginx.conf" &
    proxy=$!
    background+=("$proxy")
    through nginx "$port"
    kill "$proxy" && wait "$proxy" || true
    # Two other pages of the same site embed it; one may.
    own=$(free_port) other=$(free_port)
    stops "behind nginx: camweb ends" "$server"
    serves --listen 127.0.0.1:0 --password-file users --frame-ancestors "https://localhost:$own" "${under[@]}"
    sed -i -E "s#proxy_pass .*#proxy_pass http://127.0.0.1:$web_port;#; s#location / \{#location /cams/ {#" site.conf
    for embedder in "$own" "$other"; do
        printf 'server { listen 127.0.0.1:%s ssl; ssl_certificate %s/cameras.pem; ssl_certificate_key %s/cameras.key; default_type text/html; return 200 "<!DOCTYPE html><title>home</title><iframe src=https://localhost:%s/cams/ width=900 height=600></iframe>"; }\n' \
            "$embedder" "$work" "$work" "$port" >>site.conf
    done
    nginx -c "$work/nginx.conf" &
    proxy=$!
    background+=("$proxy")
    placed nginx "$port" --embedder "https://localhost:$own/" --stranger "https://localhost:$other/" --screenshot embedded.png
    kill "$proxy" && wait "$proxy" || true
else
    skip "nginx" "no nginx here"
fi
stops "behind a proxy: camweb ends" "$server"
if command -v caddy >/dev/null; then
    serves --listen 127.0.0.1:0 --password-file users --behind-proxy "door=unix:$work/door"
    port=$(free_port)
    { printf '{\n\tadmin off\n\tauto_https disable_redirects\n}\n'
      sed -E "s/^cameras.example.org \{/https:\/\/localhost:$port {\n\ttls cameras.pem cameras.key/; s/127.0.0.1:8080/127.0.0.1:$web_port/" "$repository/examples/camweb.Caddyfile"; } >Caddyfile
    check "caddy: the example's syntax" env HOME="$work" caddy validate --config Caddyfile --adapter caddyfile
    HOME=$work caddy run --config Caddyfile --adapter caddyfile 2>caddy.log &
    proxy=$!
    background+=("$proxy")
    through caddy "$port"
    kill "$proxy" && wait "$proxy" || true
    stops "behind Caddy: camweb ends" "$server"
    serves --listen 127.0.0.1:0 --password-file users "${under[@]}"
    sed -i -E "s#reverse_proxy 127.0.0.1:[0-9]+#reverse_proxy /cams* 127.0.0.1:$web_port#" Caddyfile
    HOME=$work caddy run --config Caddyfile --adapter caddyfile 2>caddy.log &
    proxy=$!
    background+=("$proxy")
    placed caddy "$port"
    kill "$proxy" && wait "$proxy" || true
    stops "under a path behind Caddy: camweb ends" "$server"
else
    skip "caddy" "no caddy here"
fi
kill "$recorder" && wait "$recorder" || true
finish
