# Sourced by scripts that work in a folder with a fresh Debian: where packages come from, and how the folder is made.
# shellcheck shell=bash disable=SC2154 # mirror is set by the scripts, by find_mirror

# Asks apt, because its sources come in several formats; it knows the origin of a source's packages once it has lists.
find_mirror() {
    local mirrors
    mirrors=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 'Component: main')
    grep -m 1 -E '^(https?|file):' <<<"$mirrors"
}

# What apt also needs inside to reach the mirror: proxies, certificates, timeouts.
configure_apt() { # FOLDER RELEASE
    rm -rf "$1"/etc/apt/sources.list.d/*
    echo "deb $mirror $2 main" >"$1/etc/apt/sources.list"
    apt-config dump Acquire >"$1/etc/apt/apt.conf.d/90machine"
    cp /etc/resolv.conf "$1/etc/resolv.conf"
}

make_folder() { # FOLDER RELEASE [LAUNCHER...]: its command runs debootstrap, whose output is this function's
    local folder=$1 release=$2 http='' https=''
    shift 2
    eval "$(apt-config shell http Acquire::http::Proxy https Acquire::https::Proxy)"
    rm -rf "$folder"
    mkdir -p "$folder"
    http_proxy=${http:-${http_proxy-}} https_proxy=${https:-${https_proxy-}} \
        "$@" debootstrap --variant=minbase "$release" "$folder" "$mirror" || return
    # What a crash destroys is quickly recreated; waiting for the disk after each package is slower.
    echo force-unsafe-io >"$folder/etc/dpkg/dpkg.cfg.d/lab"
}
